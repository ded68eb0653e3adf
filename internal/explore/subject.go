package explore

import (
	"context"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// Subject can be run many times. Simultaneous runs need separate subjects.
type Subject interface {
	// Run makes one run on stacks that no other run uses at the same time. The error is for a run
	// that could not be made, or was interrupted.
	Run(context.Context, kernel.Strategy, *kernel.Stacks) (Outcome, error)
}

// Comparer is a subject that can compare two runs of a strategy that must be equal.
type Comparer interface {
	// Compare makes both runs, each with a fresh strategy, and returns the outcome of the first
	// run. difference is nil if the runs are equal. err is for a run that could not be made, or was
	// interrupted.
	Compare(ctx context.Context, fresh func() kernel.Strategy, stacks *kernel.Stacks) (first Outcome, difference, err error)
}

// Outcome is the outcome of a run.
type Outcome struct {
	// Shown lists the failures, causes first; nothing if the run passed.
	Shown []Shown
	// Trace holds the events from which the strategy Guided learns; Learn records the necessary
	// ones. Default: nothing.
	Trace []*trace.Event
}

// Learn is a sink that records the necessary events of a trace for the strategy Guided.
func (o *Outcome) Learn(e *trace.Event) {
	if e.Kind == trace.Call || e.Kind == trace.FaultFired {
		o.Trace = append(o.Trace, e)
	}
}

// Shown is a failure of a run.
type Shown struct {
	verdict.Verdict
	// More is the subject's own data.
	More any
}
