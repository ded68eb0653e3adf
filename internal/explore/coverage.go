package explore

import "github.com/csisim/csisim/internal/world/kernel"

// faultWatch notes which faults happen in a run, by their loose names.
type faultWatch struct {
	kernel.Strategy
	passed   []faultPoint // few faults happen, and only these need names
	happened []Choice
}

// faultPoint is a decision about a fault, by its label as it is.
type faultPoint struct {
	kind  kernel.ChoiceKind
	label string
}

func newFaultWatch(s kernel.Strategy) *faultWatch { return &faultWatch{Strategy: s} }

// strategy is the one of the run: one that follows what steps touch still does.
func (w *faultWatch) strategy() kernel.Strategy {
	if f, ok := w.Strategy.(kernel.Follower); ok {
		return followingWatch{w, f}
	}
	return w
}

// Choose asks the strategy.
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

// named is the fault that happens at the latest decision.
func (w *faultWatch) named(c kernel.Choice, takes int) Choice {
	name, nth := steady(c.Label), 0
	for _, d := range w.passed {
		if d.kind == c.Kind && steady(d.label) == name {
			nth++
		}
	}
	return Choice{Kind: c.Kind.String(), Of: name, Nth: nth, Takes: c.Alternatives[takes]}.loose()
}

// followingWatch is that of a strategy that follows what steps touch.
type followingWatch struct {
	*faultWatch
	follower kernel.Follower
}

// Follow hands on what happens.
func (w followingWatch) Follow(i kernel.Incident) { w.follower.Follow(i) }
