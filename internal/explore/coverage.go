package explore

import "github.com/csisim/csisim/internal/world/kernel"

// faultWatch notes which faults happen in a run, by their loose names.
type faultWatch struct {
	kernel.Strategy
	names    *named
	happened []Choice
}

func newFaultWatch(s kernel.Strategy) *faultWatch { return &faultWatch{Strategy: s, names: newNamed()} }

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
		d, nth := w.names.next(c)
		if i > 0 && i < c.N {
			w.happened = append(w.happened, Choice{Kind: c.Kind.String(), Of: d.String(), Nth: nth, Takes: c.Alternatives[i]}.loose())
		}
	}
	return i
}

// followingWatch is that of a strategy that follows what steps touch.
type followingWatch struct {
	*faultWatch
	follower kernel.Follower
}

// Follow hands on what happens.
func (w followingWatch) Follow(i kernel.Incident) { w.follower.Follow(i) }
