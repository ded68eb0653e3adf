package explore

import (
	"context"

	"github.com/csisim/csisim/internal/world/kernel"
)

// sampled: one run in so many is made once more and compared with itself.
const sampled = 64

// Sample is what comparing some of the runs with themselves has shown.
type Sample struct {
	// Runs is how many were compared, and Parted how many of them were not alike.
	Runs, Parted int
	// First is how the first that parted did so, and In the run, such as "pct, seed 64".
	First error
	In    string
}

// run makes a run. One of the sample it makes once more and holds against the first: two runs of one strategy differ only if csisim or
// what it drives does not do the same twice.
func (s *Search) run(ctx context.Context, subject Subject, e *ended, strategy kernel.Strategy, stacks *kernel.Stacks) (outcome Outcome, err error) {
	comparer, can := subject.(Comparer)
	if !can || e.run%sampled != sampled-1 {
		return subject.Run(ctx, strategy, stacks)
	}
	e.compared = true
	next := strategy
	outcome, e.parted, err = comparer.Compare(ctx, func() kernel.Strategy {
		now := next
		next = s.plan.strategy(e.course)
		return now
	}, stacks)
	return outcome, err
}

// take takes notice of a run that may be one of the sample.
func (s *Sample) take(e *ended, name string) {
	if e.compared {
		s.Runs++
	}
	if e.parted == nil {
		return
	}
	if s.Parted++; s.First == nil {
		s.First, s.In = e.parted, name
	}
}
