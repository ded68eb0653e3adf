package explore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// drifting fails when its second call is lost after a fault at the first; two runs of it always
// differ.
type drifting struct{}

func (drifting) Run(_ context.Context, s kernel.Strategy, _ *kernel.Stacks) (explore.Outcome, error) {
	faults := []string{"no fault", "lost", "late"}
	first := s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "first", N: 3, Alternatives: faults})
	second := s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "second", N: 3, Alternatives: faults})
	if first > 0 && second == 1 {
		return explore.Outcome{Shown: []explore.Shown{{Verdict: verdict.Verdict{Name: "wrong", Text: faults[first]}, More: "a story"}}}, nil
	}
	return explore.Outcome{}, nil
}

func (d drifting) Compare(ctx context.Context, fresh func() kernel.Strategy, stacks *kernel.Stacks) (first explore.Outcome, difference, err error) {
	first, err = d.Run(ctx, fresh(), stacks)
	return first, errors.New("the runs part"), err
}

// afar connects to a Maker in this process.
type afar struct {
	maker *explore.Maker
	made  *int
}

func (a afar) Make(ctx context.Context, assigned []byte) ([]byte, error) {
	*a.made++
	return a.maker.Make(ctx, assigned)
}

func (a afar) Close() { a.maker.Close() }

// Given a subject, when its runs are made elsewhere, then the search has the same findings as when
// it makes them itself.
func TestASearchWhoseRunsAreMadeElsewhereFindsTheSame(t *testing.T) {
	for _, strategy := range []string{"pct", "random", "swarm", explore.Guided} {
		t.Run(strategy, func(t *testing.T) {
			o := explore.Options{Strategy: strategy, Seed: 3, Runs: 150, Budget: 2, Repeats: 2}
			fresh := func() (explore.Subject, error) { return drifting{}, nil }
			here, err := explore.Of(t.Context(), fresh, o)
			require.NoError(t, err)
			require.Len(t, here.Findings, 1)

			made := 0
			o.Elsewhere = func(search []byte) (explore.Elsewhere, error) {
				maker, err := explore.NewMaker(drifting{}, search)
				return afar{maker, &made}, err
			}
			there, err := explore.Of(t.Context(), fresh, o)
			require.NoError(t, err)
			assert.Equal(t, 150, made)
			assert.Equal(t, here.Runs, there.Runs)
			assert.Equal(t, here.Sample, there.Sample)
			assert.NotZero(t, there.Sample.Differing)
			require.Len(t, there.Findings, 1)
			assert.Equal(t, here.Findings[0].Shown, there.Findings[0].Shown, "also data that stays in a process: the run is repeated here")
			assert.Equal(t, here.Findings[0].Choices, there.Findings[0].Choices)
			assert.Equal(t, here.Findings[0].Runs, there.Findings[0].Runs)
			happened, possible := here.Coverage()
			alsoHappened, alsoPossible := there.Coverage()
			assert.Equal(t, []int{happened, possible}, []int{alsoHappened, alsoPossible})
		})
	}
}

// Given a subject with its own randomness, when only a run elsewhere shows a finding, then the
// finding counts as not repeatable.
func TestAFindingThatOnlyARunElsewhereShowsIsByChance(t *testing.T) {
	sound := func() (explore.Subject, error) { return &moody{}, nil }
	found, err := explore.Of(t.Context(), sound, explore.Options{
		Strategy: "pct", Runs: 1, Budget: 1, Repeats: 2,
		Elsewhere: func(search []byte) (explore.Elsewhere, error) {
			maker, err := explore.NewMaker(drifts{}, search)
			return afar{maker, new(int)}, err
		},
	})
	require.NoError(t, err)
	require.Len(t, found.Findings, 1)
	assert.Equal(t, explore.Shown{Verdict: verdict.Verdict{Name: "gone", Text: "gone"}}, found.Findings[0].Shown)
	assert.Zero(t, found.Findings[0].Repeated)
	assert.True(t, found.Findings[0].ByChance())
}

// drifts always shows a finding that no other subject shows.
type drifts struct{}

func (drifts) Run(_ context.Context, s kernel.Strategy, _ *kernel.Stacks) (explore.Outcome, error) {
	s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "call", N: 2, Alternatives: []string{"no fault", "lost"}})
	return explore.Outcome{Shown: []explore.Shown{{Verdict: verdict.Verdict{Name: "gone", Text: "gone"}, More: "a story"}}}, nil
}
