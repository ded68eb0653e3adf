package explore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
)

// forgetful is a subject that, if forgets is set, does not repeat runs with a fault exactly.
type forgetful struct {
	forgets bool
	faults  int // of the last run
}

func (f *forgetful) Run(_ context.Context, s kernel.Strategy, _ *kernel.Stacks) (explore.Outcome, error) {
	f.faults = s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "call", N: 2, Alternatives: []string{"no fault", "lost"}})
	return explore.Outcome{}, nil
}

func (f *forgetful) Compare(ctx context.Context, fresh func() kernel.Strategy, stacks *kernel.Stacks) (first explore.Outcome, difference, err error) {
	if first, err = f.Run(ctx, fresh(), stacks); err != nil {
		return first, nil, err
	}
	faults := f.faults
	if _, err := f.Run(ctx, fresh(), stacks); err != nil {
		return first, nil, err
	}
	if f.forgets || f.faults != faults {
		return first, errors.New("the runs part"), nil
	}
	return first, nil, nil
}

func TestOneRunInSixtyFourIsRepeatedAndCompared(t *testing.T) {
	for _, jobs := range []int{1, 3} {
		for _, forgets := range []bool{false, true} {
			found, err := explore.Of(t.Context(), func() (explore.Subject, error) { return &forgetful{forgets: forgets}, nil }, explore.Options{Strategy: "pct", Alone: true, Seed: 1, Runs: 200, Budget: 1, Jobs: jobs})
			require.NoError(t, err)
			assert.Equal(t, 200, found.Runs)
			if !forgets {
				assert.Equal(t, explore.Sample{Runs: 3}, found.Sample)
				continue
			}
			assert.Equal(t, explore.Sample{Runs: 3, Differing: 3, First: errors.New("the runs part"), In: "pct, seed 64"}, found.Sample)
		}
	}
}
