package explore

import (
	"context"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// Subject is what is run again and again. Runs that go on at once need one each.
type Subject interface {
	// Run makes one run on stacks that no other run has meanwhile. The error is for one that could not be made, or was
	// interrupted.
	Run(context.Context, kernel.Strategy, *kernel.Stacks) (Outcome, error)
}

// Comparer is a subject that says how two runs of a strategy differ that should be alike.
type Comparer interface {
	// Compare makes both runs, each with the next fresh strategy; the outcome is that of the first. parted is nil if they are alike. err
	// is for one that could not be made, or was interrupted.
	Compare(ctx context.Context, fresh func() kernel.Strategy, stacks *kernel.Stacks) (first Outcome, parted, err error)
}

// Outcome is what came of a run.
type Outcome struct {
	// Shown is what is wrong, causes first; nothing if the run passed.
	Shown []Shown
	// Trace is what happened, from which the strategy Guided learns; Learn is enough of it. Default: nothing.
	Trace []*trace.Event
}

// Learn is a sink that keeps of a trace what the strategy Guided learns from.
func (o *Outcome) Learn(e *trace.Event) {
	if e.Kind == trace.Call || e.Kind == trace.FaultFired {
		o.Trace = append(o.Trace, e)
	}
}

// Shown is one thing that is wrong in a run.
type Shown struct {
	verdict.Verdict
	// More is the subject's own.
	More any
}
