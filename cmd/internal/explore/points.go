package explore

import "github.com/csisim/csisim/internal/world/kernel"

// chance draws numbers that depend on a seed alone.
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

// known is what a calm run shows of those with faults: how many decisions there are about the
// order of processes, and at which calls faults can happen.
type known struct {
	order  int
	faults []Choice
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
		n.order++
	case c.Kind == kernel.Fault:
		d, nth := n.names.next(c)
		n.faults = append(n.faults, Choice{Kind: c.Kind.String(), Of: d.String(), Nth: nth})
	}
	return 0
}

func (n *counting) String() string { return "calm" }

// faultPoints are where, among the fault choices of a run, faults happen: as many as are drawn
// from 0 to the budget, somewhere in what the calm run has, or just after where a fault makes
// calls be repeated.
type faultPoints struct {
	chance chance
	points map[int]bool
	next   int
}

func newFaultPoints(c chance, calm known, budget int) faultPoints {
	f := faultPoints{chance: c, points: map[int]bool{}}
	at := 0
	for i := range c.below(budget + 1) {
		if i == 0 || c.below(2) == 0 {
			at = c.below(len(calm.faults))
		} else {
			at += 1 + c.below(3)
		}
		f.points[at] = true
	}
	return f
}

// choose decides on the next fault choice.
func (f *faultPoints) choose(c kernel.Choice) int {
	here := f.points[f.next]
	f.next++
	if !here {
		return 0
	}
	return 1 + f.chance.below(c.N-1)
}
