package explore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
)

// moody fails when its fault happens but, if it is so, not in each third run.
type moody struct {
	chance bool
	runs   int
}

func (m *moody) Run(_ context.Context, s kernel.Strategy, _ *kernel.Stacks) (explore.Outcome, error) {
	m.runs++
	fault := s.Choose(kernel.Choice{Kind: kernel.Fault, Label: "call", N: 2, Alternatives: []string{"no fault", "lost"}}) == 1
	if fault && !(m.chance && m.runs%3 == 0) {
		return explore.Outcome{Shown: []explore.Shown{{Name: "wrong", Verdict: "wrong"}}}, nil
	}
	return explore.Outcome{}, nil
}

// What a subject decides by itself is told from what the choices decide: the run of a finding is made again.
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
