package machine

import "time"

// Meter measures the wall time during which a program does nothing. While the program computes, or
// waits for a processor or a disk, a loaded computer slows it down. Therefore only a fraction of
// that time counts.
type Meter struct {
	program *Process
	scale   float64       // how much slower time counts while the program computes
	used    time.Duration // processor time up to the last reading
	begun   bool          // it was read
}

// starved is an additional factor by which time counts less while a program gets no processor.
const starved = 10

// idleShare is the part of the time that a waiting program may compute, for example to poll.
const idleShare = 5

// NewMeter returns a meter for a program. A program that computes all the time uses up the patience
// at the bound.
func NewMeter(program *Process, patience, bound time.Duration) *Meter {
	return &Meter{program: program, scale: max(1, float64(bound)/float64(patience))}
}

// Spent returns the patience used during the wall time since the last reading of the meter.
func (m *Meter) Spent(passed time.Duration) time.Duration {
	used := m.program.processorTime()
	computed := max(0, used-m.used) // the time of a child that has ended may be lost
	if !m.begun {
		computed = 0
	}
	m.used, m.begun = used, true
	if computed < passed/idleShare && m.program.Quiet() {
		return passed - computed
	}
	return time.Duration(float64(max(min(computed, passed), passed/starved)) / m.scale)
}
