package explore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Given a search with runs that reach no new state, then soon nearly all faults of the calm run
// have been tried. No run has more faults than the budget, and none repeats the calm run.
func TestAGuidedSearchTriesNewChoices(t *testing.T) {
	const points, budget, seeds = 200, 3, 10
	calm := known{Order: 10, Calls: some("call", points)}
	for seed := range uint64(seeds) {
		g := newGuide(0, seed, Options{Budget: budget}, calm)
		tried, drawn := map[Choice]bool{}, 0
		for run := uint64(0); drawn < points; run++ {
			m := g.of(context.Background(), run)
			g.learn(m, nil, nil)
			assert.NotEqual(t, mutation{}, m)
			assert.LessOrEqual(t, len(m.Choices), budget)
			drawn += len(m.Choices)
			for _, c := range m.Choices {
				tried[c] = true
			}
		}
		assert.Greater(t, len(tried), points*9/10, "seed %d: blind draws try two thirds", seed)
	}
}

// A search without faults only tries other orders.
func TestAGuidedSearchWithoutFaultsDrawsOrders(t *testing.T) {
	g := newGuide(0, 1, Options{}, known{Order: 10})
	for run := range uint64(10) {
		m := g.of(context.Background(), run)
		assert.Empty(t, m.Choices)
		assert.NotZero(t, m.Order)
	}
}
