package explore

import (
	"context"
	"errors"

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
func (h *here) run(ctx context.Context, run uint64, c course, strategy kernel.Strategy) (outcome Outcome, made made, err error) {
	comparer, can := h.subject.(Comparer)
	if !can || run%sampled != sampled-1 {
		outcome, err = h.subject.Run(ctx, strategy, &h.stacks)
		return outcome, made, err
	}
	next := strategy
	outcome, parted, err := comparer.Compare(ctx, func() kernel.Strategy {
		now := next
		next = h.plan.strategy(c)
		return now
	}, &h.stacks)
	made.Compared = true
	if parted != nil {
		made.Parted = parted.Error()
	}
	return outcome, made, err
}

// take takes notice of a run that may be one of the sample.
func (s *Sample) take(e *ended, name string) {
	if e.Compared {
		s.Runs++
	}
	if e.Parted == "" {
		return
	}
	if s.Parted++; s.First == nil {
		s.First, s.In = errors.New(e.Parted), name
	}
}
