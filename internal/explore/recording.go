package explore

import "github.com/csisim/csisim/internal/world/kernel"

// Recording records the choices of a strategy that are not calm, with their names.
type Recording struct {
	kernel.Strategy
	names *named
	// Choices are the choices so far, in order.
	Choices []Choice
}

// NewRecording returns a Recording of a strategy.
func NewRecording(s kernel.Strategy) *Recording {
	return &Recording{Strategy: s, names: newNamed()}
}

// Choose forwards to the strategy.
func (r *Recording) Choose(c kernel.Choice) int {
	d, nth := r.names.next(c)
	i := r.Strategy.Choose(c)
	if i <= 0 || i >= c.N {
		return i
	}
	if takes := alternative(c, i); c.Kind != kernel.Relist || takes != alternative(c, 0) {
		r.Choices = append(r.Choices, Choice{Kind: c.Kind.String(), Of: d.String(), At: d.instant(), Nth: nth, Takes: takes})
	}
	return i
}
