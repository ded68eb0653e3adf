package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/sim"
)

// subject is a scenario that can be run many times. Simultaneous runs need separate subjects.
type subject struct {
	scenario *scenario.Scenario
	options  scenario.RunOptions
	notice   func(noticed) // nil if not needed
}

// noticed is the data of a run that a search sums up, whether the run fails or not.
type noticed struct {
	Sometimes []bool
	Usage     []sim.Usage
}

func newSubject(file string, text []byte, o Options) (*subject, error) {
	s, err := scenario.Parse(file, text)
	options := o.Run
	options.FaultSpace, options.NoChoices = o.Space, true
	if options.Experience == nil {
		options.Experience = &unfinished.Experience{}
	}
	return &subject{scenario: s, options: options}, err
}

// run makes one run.
func (s *subject) run(ctx context.Context, strategy kernel.Strategy, stacks *kernel.Stacks) (*scenario.Result, error) {
	return s.make(ctx, func() kernel.Strategy { return strategy }, stacks, s.options)
}

// make makes a run, or two if the options say so.
func (s *subject) make(ctx context.Context, strategy func() kernel.Strategy, stacks *kernel.Stacks, o scenario.RunOptions) (*scenario.Result, error) {
	o.Strategy, o.Stacks = strategy, stacks
	result, err := scenario.Run(ctx, s.scenario, o)
	if result != nil && s.notice != nil {
		s.notice(noticed{result.Sometimes, result.Usage})
	}
	if err != nil && context.Cause(ctx) == nil {
		return nil, fmt.Errorf("run with strategy %v: %w", strategy(), err)
	}
	return result, errors.Join(err, context.Cause(ctx))
}

// Run makes one run of a search.
func (s *subject) Run(ctx context.Context, strategy kernel.Strategy, stacks *kernel.Stacks) (explore.Outcome, error) {
	result, err := s.run(ctx, strategy, stacks)
	if err != nil {
		return explore.Outcome{}, err
	}
	return outcomeOf(result), nil
}

func outcomeOf(r *scenario.Result) explore.Outcome {
	return explore.Outcome{Shown: shownBy(r), Trace: r.Trace}
}

// Compare makes a run of a search twice, and compares events and traces. If these differ, the
// outcome is that of a separate run, because the difference must not fail the run.
func (s *subject) Compare(ctx context.Context, fresh func() kernel.Strategy, stacks *kernel.Stacks) (first explore.Outcome, difference, err error) {
	twice := s.options
	twice.CheckDeterminism = true
	result, err := s.make(ctx, fresh, stacks, twice)
	if err != nil {
		return explore.Outcome{}, nil, err
	}
	if result.Difference != nil {
		first, err = s.Run(ctx, fresh(), stacks)
		return first, result.Difference, err
	}
	return outcomeOf(result), nil, nil
}
