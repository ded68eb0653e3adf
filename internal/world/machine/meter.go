package machine

import "time"

// Meter measures how long a program does nothing, in wall time. While the program works, or waits
// for a processor or a disk, a loaded computer makes it slow, and time passes at a fraction of its
// speed.
type Meter struct {
	program *Process
	scale   float64       // how much slower time passes while the program computes
	used    time.Duration // processor time up to the last reading
	begun   bool          // it was read
}

// starved is how many times slower again time passes while a program gets no processor.
const starved = 10

// idleShare is the part of the time that a program may compute which waits for something, such as
// one that looks again and again.
const idleShare = 5

// NewMeter returns a meter for a program. A program that computes all the time has spent the
// patience when the bound is over.
func NewMeter(program *Process, patience, bound time.Duration) *Meter {
	return &Meter{program: program, scale: max(1, float64(bound)/float64(patience))}
}

// Spent returns how much of the patience is spent by the wall time that has passed since the meter
// was read last.
func (m *Meter) Spent(passed time.Duration) time.Duration {
	used := m.program.processorTime()
	computed := max(0, used-m.used) // that of a child that has ended may be lost
	if !m.begun {
		computed = 0
	}
	m.used, m.begun = used, true
	if computed < passed/idleShare && m.program.Quiet() {
		return passed - computed
	}
	return time.Duration(float64(max(min(computed, passed), passed/starved)) / m.scale)
}
