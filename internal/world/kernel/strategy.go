package kernel

import (
	"fmt"
	"time"
)

// ChoiceKind is the kind of a decision.
type ChoiceKind uint8

const (
	// RunNext: which ready process runs next.
	RunNext ChoiceKind = iota
	// GiveWay: whether a process that is about to touch the world continues (0) or another one runs
	// first.
	GiveWay
	// Deliver: how many commits a lagging view of the store receives.
	Deliver
	// Fault: whether a fault fires (0 = no).
	Fault
	// Jitter: how much of a random delay is added (0 = none).
	Jitter
	// Suffix: a character of a generated name.
	Suffix
	// Turn: which of several things comes first if their order does not matter.
	Turn
	// Enter: which answer or other event from outside the simulation comes first.
	Enter
	// Relist: whether a component's watches are interrupted (the last alternative) and its objects
	// are listed again, so that it misses the states in between.
	Relist
	// Outcome: the result of a write to the API (0 = it succeeds).
	Outcome
)

func (k ChoiceKind) String() string {
	return [...]string{"run next", "give way", "deliver", "fault", "jitter", "suffix", "turn", "enter", "relist", "outcome"}[k]
}

// Choice is one decision among N alternatives, numbered from 0. Alternative 0 is the choice of a
// calm world without faults.
type Choice struct {
	Kind ChoiceKind
	N    int
	// Index numbers the decisions of a run.
	Index uint64
	// At is the virtual time since the beginning.
	At time.Duration
	// Label describes the decision.
	Label string
	// Alternatives are the names of the alternatives; nil if they are numbers or processes.
	Alternatives []string

	first *Process // the process that may yield
	ready *queue
}

// Process returns the process of alternative i of RunNext and GiveWay; nil for other choices. It is
// valid only during the choice.
func (c *Choice) Process(i int) *Process {
	switch {
	case c.ready == nil:
		return nil
	case c.first == nil:
		return c.ready.at(i)
	case i == 0:
		return c.first
	}
	return c.ready.at(i - 1)
}

// OrdersProcesses reports whether the choice selects the next process: RunNext or GiveWay.
func (c *Choice) OrdersProcesses() bool { return c.ready != nil }

// Processes returns the processes of the alternatives, in order. The first is the process that may
// yield for GiveWay, and nil for RunNext; the ready ones follow. They are valid only during the
// choice.
func (c *Choice) Processes() (asks *Process, ready []*Process) { return c.first, c.ready.all() }

// Strategy takes the decisions of a run. It must be deterministic.
type Strategy interface {
	Choose(Choice) int
	String() string
}

// Calm always takes the first alternative: the fair, fault-free order.
type Calm struct{}

// Choose returns 0.
func (Calm) Choose(Choice) int { return 0 }

func (Calm) String() string { return "calm" }

// Random draws every decision from a generator with a seed.
type Random struct {
	Seed  uint64
	state uint64
}

// NewRandom returns the random strategy of a seed.
func NewRandom(seed uint64) *Random { return &Random{Seed: seed, state: seed} }

// Choose draws a number below c.N.
func (r *Random) Choose(c Choice) int { return int(r.next() % uint64(c.N)) }

func (r *Random) String() string { return fmt.Sprintf("random, seed %d", r.Seed) }

// next is SplitMix64: tiny, well mixed, and the same on every machine.
func (r *Random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Pick is one decision of a recorded run that was not the calm one.
type Pick struct {
	Index  uint64
	Choice int
}
