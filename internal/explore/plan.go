package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/plural"
)

// plan determines the runs of a search. The first runs have a single fault each, at one call of the
// driver in the calm order. Their failures need no search, and their stories are the shortest. The
// runs of the strategy follow. If the strategy uses seeds, its runs alternate with runs that have
// single faults at API writes.
type plan struct {
	again         []mutation // mutations from a corpus; for strategies that learn
	from          int        // runs that were made before
	calls, writes []Choice
	options       Options
	known         known
	// The faults that are possible in the calm run, by their loose names.
	possible    map[Choice]bool
	guide       *guide       // nil for strategies that do not learn
	enumeration *enumeration // nil for strategies that do not make every run
}

func newPlan(o Options, calm known) *plan {
	p := &plan{options: o, known: calm, from: o.Before, possible: map[Choice]bool{}}
	for _, single := range slices.Concat(singles(calm.Calls), singles(calm.Writes)) {
		p.possible[single.loose()] = true
	}
	if o.Strategy == Exhaustive {
		p.enumeration = newEnumeration()
		return p
	}
	if !o.Alone && !o.Pairs {
		p.calls, p.writes = singles(calm.Calls), singles(calm.Writes)
	}
	if o.Strategy == Guided {
		for _, kept := range o.Kept {
			p.again = append(p.again, mutationOf(kept))
		}
		mine := (len(p.calls) + o.Shards - 1 - o.Shard) / o.Shards
		first := uint64(len(p.again) + max(0, mine-p.from))
		p.guide = newGuide(first, o.Seed+uint64(o.Shard)<<32+uint64(p.from)<<16, o, calm)
	}
	return p
}

// singles returns the possible single faults at some points: first the first fault of each point,
// then the second.
func singles(points []point) (all []Choice) {
	for i, more := 1, true; more; i++ {
		more = false
		for _, at := range points {
			if i < len(at.Alternatives) {
				at.Takes, more = at.Alternatives[i], true
				all = append(all, at.Choice)
			}
		}
	}
	return all
}

// course is the description of a run's decisions.
type course struct {
	Faults []Choice // faults in the calm order; nil if there is a seed
	Guided *mutation
	Seed   uint64
	picks  []kernel.Pick // the deviations from the calm run, if every run is made
	none   bool          // there is no such run: all have been made
}

// of returns the course of a run of this shard, counted from 0. It may wait for earlier runs.
func (p *plan) of(ctx context.Context, run uint64) course {
	if p.enumeration != nil {
		picks, ok := p.enumeration.of(ctx, run)
		return course{picks: picks, none: !ok}
	}
	again := uint64(len(p.again))
	if run < again {
		return course{Guided: &p.again[run]}
	}
	inAll := (uint64(p.from)+run-again)*uint64(p.options.Shards) + uint64(p.options.Shard)
	if p.options.Pairs && p.guide == nil && p.options.Budget > 1 && inAll%2 == 0 {
		if two := p.known.pair(p.options.Seed + inAll); two != nil {
			return course{Faults: two}
		}
	}
	calls, writes := uint64(len(p.calls)), uint64(len(p.writes))
	later := inAll - calls
	switch {
	case inAll < calls:
		return course{Faults: p.calls[inAll : inAll+1]}
	case p.guide != nil:
		m := p.guide.of(ctx, run)
		return course{Guided: &m}
	case later >= 2*writes:
		return course{Seed: p.options.Seed + later - writes}
	case later%2 == 1:
		return course{Faults: p.writes[later/2 : later/2+1]}
	}
	return course{Seed: p.options.Seed + later/2}
}

// strategy returns the strategy of a course.
func (p *plan) strategy(c course) kernel.Strategy {
	switch {
	case p.enumeration != nil:
		if !p.options.Unreduced && p.options.Deviations > 0 && len(c.picks) < p.options.Budget+p.options.Deviations {
			return newSurveyed(c.picks)
		}
		return newEnumerated(c.picks)
	case c.Guided != nil:
		return newSteered(*c.Guided, p.known)
	case c.Faults == nil:
		return newStrategy(p.options.Strategy, c.Seed, p.known, p.options.Budget)
	case p.guide != nil:
		return newSteered(mutation{Choices: c.Faults}, p.known)
	}
	return NewReplay(c.Faults)
}

// name describes a run with a course to people.
func (p *plan) name(c course) string {
	switch {
	case p.enumeration != nil:
		return fmt.Sprintf("%s: %s otherwise than in the calm run", Exhaustive, plural.Of(len(c.picks), "decision"))
	case len(c.Faults) > 1:
		return "two faults in the calm order"
	case c.Faults != nil:
		return "one fault in the calm order"
	case c.Guided == nil:
	case c.Guided.Order > 0:
		return fmt.Sprintf("%s in the order of pct, seed %d", plural.Of(len(c.Guided.Choices), "fault"), c.Guided.Order)
	default:
		return plural.Of(len(c.Guided.Choices), "fault") + " in the calm order"
	}
	return fmt.Sprintf("%s, seed %d", p.options.Strategy, c.Seed)
}

// mutation returns the course in the form for a guide.
func (c course) mutation() mutation {
	if c.Guided != nil {
		return *c.Guided
	}
	return mutation{Choices: c.Faults}
}
