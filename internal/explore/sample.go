package explore

import (
	"context"

	"github.com/csisim/csisim/internal/world/kernel"
)

// sampled: one run in so many is made twice more and compared with itself.
const sampled = 64

// Sample is what comparing some of the runs with themselves has shown.
type Sample struct {
	// Runs is how many were compared, and Parted how many of them were not alike.
	Runs, Parted int
	// First is how the first that parted did so, and In the run, such as "pct, seed 64".
	First error
	In    string
}

// compare holds a run against itself if it is one of the sample: two runs of one strategy differ only if csisim or what it
// drives does not do the same twice.
func (s *Search) compare(ctx context.Context, subject Subject, e *ended, stacks *kernel.Stacks) {
	comparer, can := subject.(Comparer)
	if !can || e.run%sampled != sampled-1 || e.err != nil {
		return
	}
	e.compared = true
	e.parted, e.err = comparer.Compare(ctx, func() kernel.Strategy { return s.plan.strategy(e.course) }, stacks)
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
