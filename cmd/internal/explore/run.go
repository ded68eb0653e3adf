package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// subject is a scenario that is run again and again. Runs that go on at once need one each.
type subject struct {
	scenario *scenario.Scenario
	space    fault.Space
}

func newSubject(file string, text []byte, space fault.Space) (*subject, error) {
	s, err := scenario.Parse(file, text)
	return &subject{s, space}, err
}

// run makes one run.
func (s *subject) run(ctx context.Context, strategy kernel.Strategy) (*scenario.Result, error) {
	result, err := scenario.Run(ctx, s.scenario, scenario.RunOptions{
		Strategy: func() kernel.Strategy { return strategy }, FaultSpace: s.space,
	})
	if err != nil && context.Cause(ctx) == nil {
		return nil, fmt.Errorf("run with strategy %v: %w", strategy, err)
	}
	return result, errors.Join(err, context.Cause(ctx))
}

// calm makes the run without faults in the fair order, twice: as csisim run does, and to count
// the decisions.
func (s *subject) calm(ctx context.Context) (*scenario.Result, known, error) {
	result, err := s.run(ctx, kernel.Calm{})
	if err != nil || result.Exit != scenario.Passed {
		return result, known{}, err
	}
	counted := &counting{names: newNamed()}
	result, err = s.run(ctx, counted)
	return result, counted.known, err
}
