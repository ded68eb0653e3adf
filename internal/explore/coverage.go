package explore

import "github.com/csisim/csisim/internal/world/kernel"

// faultWatch records the faults of a run by their loose names.
type faultWatch struct {
	kernel.Strategy
	passed   []faultPoint // few faults happen, and only these need names
	happened []Choice
}

// faultPoint is a decision about a fault, by its unmodified label.
type faultPoint struct {
	kind  kernel.ChoiceKind
	label string
}

func newFaultWatch(s kernel.Strategy) *faultWatch { return &faultWatch{Strategy: s} }

// strategy returns the strategy of the run. It remains a Follower if the wrapped strategy is one.
func (w *faultWatch) strategy() kernel.Strategy {
	if f, ok := w.Strategy.(kernel.Follower); ok {
		return followingWatch{w, f}
	}
	return w
}

// Choose forwards to the wrapped strategy.
func (w *faultWatch) Choose(c kernel.Choice) int {
	i := w.Strategy.Choose(c)
	if isFault(c) {
		w.passed = append(w.passed, faultPoint{c.Kind, c.Label})
		if i > 0 && i < c.N {
			w.happened = append(w.happened, w.named(c, i))
		}
	}
	return i
}

// named returns the fault that happens at the latest decision.
func (w *faultWatch) named(c kernel.Choice, takes int) Choice {
	name, nth := steady(c.Label), 0
	for _, d := range w.passed {
		if d.kind == c.Kind && steady(d.label) == name {
			nth++
		}
	}
	return Choice{Kind: c.Kind.String(), Of: name, Nth: nth, Takes: c.Alternatives[takes]}.loose()
}

// followingWatch is a faultWatch around a Follower.
type followingWatch struct {
	*faultWatch
	follower kernel.Follower
}

// Follow forwards incidents.
func (w followingWatch) Follow(i kernel.Incident) { w.follower.Follow(i) }
