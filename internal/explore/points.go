package explore

import (
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// chance draws numbers that depend only on a seed.
type chance struct{ *kernel.Random }

func newChance(seed uint64) chance { return chance{kernel.NewRandom(seed)} }

// below draws a number from 0 to n-1.
func (c chance) below(n int) int { return c.Choose(kernel.Choice{N: max(n, 1)}) }

// points draws n of the numbers below limit; some may be the same.
func (c chance) points(n, limit int) map[int]bool {
	drawn := map[int]bool{}
	for range n {
		drawn[c.below(limit)] = true
	}
	return drawn
}

// point is a decision at which faults can happen.
type point struct {
	Choice
	Alternatives []string // the first is no fault
}

// known is the information from a calm run that runs with faults need. It contains the number of
// decisions about the order of processes, and the calls and writes at which faults are possible.
type known struct {
	Order         int
	Calls, Writes []point
	// Points are all points, numbered by their loose names.
	Points map[Choice]bool
}

// counting takes the calm decisions and counts them.
type counting struct {
	known
	names *named
}

// Choose returns 0.
func (n *counting) Choose(c kernel.Choice) int {
	switch {
	case c.Process(0) != nil:
		n.Order++
	case c.Kind == kernel.Fault:
		n.Calls = append(n.Calls, n.point(c))
	case c.Kind == kernel.Outcome:
		n.Writes = append(n.Writes, n.point(c))
	}
	return 0
}

func (n *counting) point(c kernel.Choice) point {
	d, nth := n.names.next(c)
	return point{Choice{Kind: c.Kind.String(), Of: d.String(), Nth: nth}, c.Alternatives}
}

// all returns the counts.
func (n *counting) all() known {
	n.Points = map[Choice]bool{}
	times := map[Choice]int{}
	for _, p := range slices.Concat(n.Calls, n.Writes) {
		c := p.loose()
		c.Nth = 0
		times[c]++
		c.Nth = times[c]
		n.Points[c] = true
	}
	return n.known
}

func (n *counting) String() string { return "calm" }

// writeOdds is the number of faults at driver calls per fault at an API write.
const writeOdds = 3

// faultPoints determines which of the fault decisions of a run are faults. It chooses a random
// number of them, up to the budget. They are at random decisions of the calm run, or just after a
// fault that causes a repeated call.
type faultPoints struct {
	chance        chance
	calls, writes sequence
	absent        uint64 // selects the faults that the run lacks; 0 means none
	novel         *novelty
}

// noveltyOdds: one in this many runs can also have faults at points that the calm run does not
// reach, such as calls that result from another order, a stale view or the previous fault.
const noveltyOdds = 3

// novelty detects the points that the calm run does not have.
type novelty struct {
	calm  map[Choice]bool
	names *named
}

// at reports whether the calm run lacks a point.
func (n *novelty) at(c kernel.Choice) bool {
	c.Label = withoutUIDs(c.Label)
	d, nth := n.names.next(c)
	return !n.calm[Choice{Kind: c.Kind.String(), Of: d.String(), Nth: nth}]
}

// sequence lists the deviating decisions among the decisions of one kind.
type sequence struct {
	points map[int]bool
	next   int
}

// here reports whether the current decision deviates.
func (s *sequence) here() bool {
	s.next++
	return s.points[s.next-1]
}

func newFaultPoints(c chance, calm known, budget int) faultPoints {
	f := faultPoints{chance: c, calls: sequence{points: map[int]bool{}}, writes: sequence{points: map[int]bool{}}}
	if budget > 0 && c.below(noveltyOdds) == 0 {
		f.novel = &novelty{calm.Points, newNamed()}
	}
	at := -1
	for range c.below(budget + 1) {
		switch {
		case len(calm.Writes) > 0 && (len(calm.Calls) == 0 || c.below(writeOdds) == 0):
			f.writes.points[c.below(len(calm.Writes))] = true
		case at < 0 || c.below(2) == 0:
			at = c.below(len(calm.Calls))
			f.calls.points[at] = true
		default:
			at += 1 + c.below(3)
			f.calls.points[at] = true
		}
	}
	return f
}

// choose decides the next fault decision.
func (f *faultPoints) choose(c kernel.Choice) int {
	s := &f.calls
	if c.Kind == kernel.Outcome {
		s = &f.writes
	}
	if here := s.here(); !here && (f.novel == nil || !f.novel.at(c) || f.chance.below(2) == 0) {
		return 0
	}
	i := 1 + f.chance.below(c.N-1)
	for range c.N {
		if f.has(c.Alternatives[i]) {
			return i
		}
		i = 1 + i%(c.N-1)
	}
	return 0
}

// has reports whether the run can have faults with a name. If the run lacks some faults, it lacks
// half of them.
func (f *faultPoints) has(name string) bool {
	if f.absent == 0 {
		return true
	}
	seed := f.absent
	for _, b := range []byte(name) {
		seed = seed*31 + uint64(b)
	}
	return newChance(seed).below(2) == 0
}

// isFault reports whether the choice decides about a fault.
func isFault(c kernel.Choice) bool { return c.Kind == kernel.Fault || c.Kind == kernel.Outcome }
