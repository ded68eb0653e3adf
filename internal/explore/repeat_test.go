package explore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// moody fails when its fault happens. It still passes in every third run by chance.
type moody struct {
	chance bool
	runs   int
}

func (m *moody) Run(_ context.Context, s kernel.Strategy, _ *kernel.Stacks) (explore.Outcome, error) {
	m.runs++
	fault := s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "call", N: 2, Alternatives: []string{"no fault", "lost"}}) == 1
	if fault && !(m.chance && m.runs%3 == 0) {
		return explore.Outcome{Shown: []explore.Shown{{Verdict: verdict.Verdict{Name: "wrong", Text: "wrong"}}}}, nil
	}
	return explore.Outcome{}, nil
}

// A search distinguishes the subject's own randomness from the choices, because it repeats the run
// of a finding.
func TestTheRunOfAFindingIsMadeAgain(t *testing.T) {
	for _, chance := range []bool{false, true} {
		found, err := explore.Of(t.Context(), func() (explore.Subject, error) { return &moody{chance: chance}, nil }, explore.Options{Strategy: "pct", Runs: 1, Budget: 1, Repeats: 5})
		require.NoError(t, err)
		require.Len(t, found.Findings, 1)
		f := found.Findings[0]
		assert.Equal(t, 5, f.Repeats)
		assert.Equal(t, chance, f.ByChance())
		assert.Equal(t, []explore.Choice{{Kind: "fault", Of: "call", Nth: 1, Takes: "lost"}}, f.Choices)
		if chance {
			assert.Contains(t, []int{3, 4}, f.Repeated)
		}
	}
}

// drawing is a subject with a driver that generates the ids of its volumes randomly. It fails when
// the second volume's call is lost.
type drawing struct{ runs int }

func (d *drawing) Run(_ context.Context, s kernel.Strategy, _ *kernel.Stacks) (explore.Outcome, error) {
	d.runs++
	made := s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "CreateVolume of pvc-281a4091-0000-4000-8000-00000000000c", N: 2, Alternatives: []string{"no fault", "lost"}})
	lost := 0
	for volume := range 2 {
		label := fmt.Sprintf("NodeStageVolume of %08x-e79c-11f1-89ca-dab2e5deb1%02d on node-a", d.runs, volume)
		lost = s.Choose(kernel.Choice{Kind: kernel.Fault, Label: label, N: 2, Alternatives: []string{"no fault", "lost"}})
	}
	if made == 0 && lost == 1 {
		return explore.Outcome{Shown: []explore.Shown{{Verdict: verdict.Verdict{Name: "wrong", Text: "wrong"}}}}, nil
	}
	return explore.Outcome{}, nil
}

// Given a driver that generates the ids of its volumes, when a call about one of the volumes shows
// a failure, then the run can be shrunk and repeated, because the name of its choice does not
// contain the id. Uids that csisim generates are the same in each run, and stay in the name.
func TestChoicesAreNamedWithoutTheIDsThatADriverDraws(t *testing.T) {
	found, err := explore.Of(t.Context(), func() (explore.Subject, error) { return &drawing{}, nil }, explore.Options{Strategy: "pct", Runs: 3, Budget: 1, Repeats: 5})
	require.NoError(t, err)
	require.Len(t, found.Findings, 1)
	f := found.Findings[0]
	assert.Equal(t, []explore.Choice{{Kind: "fault", Of: "NodeStageVolume of … on node-a", Nth: 2, Takes: "lost"}}, f.Choices)
	assert.Equal(t, 5, f.Repeated)
	_, possible := found.Coverage()
	assert.Equal(t, 3, possible)
}

// broke gives varying results, like moody, until a run fails with an error.
type broke struct{ moody }

var errBroke = errors.New("no computer is left")

func (b *broke) Run(ctx context.Context, s kernel.Strategy, stacks *kernel.Stacks) (explore.Outcome, error) {
	if s.String() == "pct, seed 3" {
		return explore.Outcome{}, errBroke
	}
	return b.moody.Run(ctx, s, stacks)
}

// Given a finding, when a later run cannot be made, then the search ends and keeps the finding,
// with the frequency of its repetition.
func TestAFindingIsKeptWhenALaterRunCannotBeMade(t *testing.T) {
	found, err := explore.Of(t.Context(), func() (explore.Subject, error) { return &broke{}, nil }, explore.Options{Strategy: "pct", Seed: 1, Runs: 50, Budget: 1, Repeats: 5})
	require.ErrorIs(t, err, errBroke)
	require.Len(t, found.Findings, 1)
	assert.Less(t, found.Runs, 50)
	assert.Equal(t, 5, found.Findings[0].Repeated)
	assert.Len(t, found.Findings[0].Choices, 1)
}
