package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
)

// subject is a scenario that is run again and again. Runs that go on at once need one each.
type subject struct {
	scenario *scenario.Scenario
	options  scenario.RunOptions
	met      *met // nil if nobody asks
}

func newSubject(file string, text []byte, o Options) (*subject, error) {
	s, err := scenario.Parse(file, text)
	options := o.Run
	options.FaultSpace, options.NoChoices = o.Space, true
	return &subject{scenario: s, options: options}, err
}

// run makes one run.
func (s *subject) run(ctx context.Context, strategy kernel.Strategy, stacks *kernel.Stacks) (*scenario.Result, error) {
	options := s.options
	options.Strategy, options.Stacks = func() kernel.Strategy { return strategy }, stacks
	result, err := scenario.Run(ctx, s.scenario, options)
	if result != nil && s.met != nil {
		s.met.add(result.Sometimes)
	}
	if err != nil && context.Cause(ctx) == nil {
		return nil, fmt.Errorf("run with strategy %v: %w", strategy, err)
	}
	return result, errors.Join(err, context.Cause(ctx))
}

// Run makes one run of a search.
func (s *subject) Run(ctx context.Context, strategy kernel.Strategy, stacks *kernel.Stacks) (explore.Outcome, error) {
	result, err := s.run(ctx, strategy, stacks)
	if err != nil {
		return explore.Outcome{}, err
	}
	return explore.Outcome{Shown: shownBy(result), Trace: result.Trace}, nil
}
