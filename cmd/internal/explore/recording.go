package explore

import "github.com/csisim/csisim/internal/world/kernel"

// recording keeps the choices of a strategy that are not calm, by their names.
type recording struct {
	kernel.Strategy
	names   *named
	choices []Choice
}

func newRecording(s kernel.Strategy) *recording {
	return &recording{Strategy: s, names: newNamed()}
}

// Choose asks the strategy.
func (r *recording) Choose(c kernel.Choice) int {
	d, nth := r.names.next(c)
	i := r.Strategy.Choose(c)
	if i <= 0 || i >= c.N {
		return i
	}
	if takes := r.names.alternative(c, i); c.Kind != kernel.Relist || takes != r.names.alternative(c, 0) {
		r.choices = append(r.choices, Choice{Kind: c.Kind.String(), Of: d.String(), At: d.instant(), Nth: nth, Takes: takes})
	}
	return i
}
