package explore

import (
	"context"
	"errors"

	"github.com/csisim/csisim/internal/world/kernel"
)

// sampled: one in this many runs is made twice and compared.
const sampled = 64

// Sample is the result of making some runs twice.
type Sample struct {
	// Runs is the number of compared runs, and Differing the number of those with a difference.
	Runs, Differing int
	// First is the first difference, and In names its run, such as "pct, seed 64".
	First error
	In    string
}

// run makes a run. A run of the sample is made twice and compared. Two runs of one strategy differ
// only if csisim or the driver is not deterministic.
func (h *here) run(ctx context.Context, run uint64, c course, strategy kernel.Strategy) (outcome Outcome, made made, err error) {
	comparer, can := h.subject.(Comparer)
	if !can || run%sampled != sampled-1 {
		outcome, err = h.subject.Run(ctx, strategy, &h.stacks)
		return outcome, made, err
	}
	next := strategy
	outcome, difference, err := comparer.Compare(ctx, func() kernel.Strategy {
		now := next
		next = h.plan.strategy(c)
		return now
	}, &h.stacks)
	made.Compared = true
	if difference != nil {
		made.Difference = difference.Error()
	}
	return outcome, made, err
}

// take adds a run to the sample if the run belongs there.
func (s *Sample) take(e *ended, name string) {
	if e.Compared {
		s.Runs++
	}
	if e.Difference == "" {
		return
	}
	if s.Differing++; s.First == nil {
		s.First, s.In = errors.New(e.Difference), name
	}
}
