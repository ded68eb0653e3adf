package explore

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
)

// names returns the names of some runs of a plan.
func names(p *plan, runs uint64) (all []string) {
	for run := range runs {
		c := p.of(context.Background(), run)
		name := p.name(c)
		for _, choice := range c.Faults {
			name += ": " + choice.String()
		}
		all = append(all, name)
	}
	return all
}

// some returns points of a calm run.
func some(of string, n int) (all []point) {
	for i := range n {
		all = append(all, point{Choice{Kind: "fault", Of: of, Nth: i + 1}, []string{"no fault", "answer lost"}})
	}
	return all
}

// The shards of a search together make the runs of the whole search, each of them once. A continued
// search makes the next ones.
func TestShardsAndContinuedSearchesMakeTheRunsOfTheWhole(t *testing.T) {
	calm := known{Order: 10, Calls: some("call", 3), Writes: some("write", 2)}
	o := Options{Strategy: "pct", Seed: 1, Shards: 1, Budget: 3}
	whole := names(newPlan(o, calm), 12)
	assert.Equal(t, []string{
		"one fault in the calm order: call: answer lost", "one fault in the calm order: call, time 2: answer lost",
		"one fault in the calm order: call, time 3: answer lost", "pct, seed 1", "one fault in the calm order: write: answer lost",
		"pct, seed 2", "one fault in the calm order: write, time 2: answer lost", "pct, seed 3", "pct, seed 4", "pct, seed 5", "pct, seed 6", "pct, seed 7",
	}, whole)
	later := o
	later.Before = 5
	assert.Equal(t, whole[5:], names(newPlan(later, calm), 7))
	var shared []string
	for o.Shard, o.Shards = 0, 3; o.Shard < o.Shards; o.Shard++ {
		shared = append(shared, names(newPlan(o, calm), 4)...)
	}
	slices.Sort(shared)
	slices.Sort(whole)
	assert.Equal(t, whole, shared)
}

// A search with pairs has two faults in every second run: at a call and its repetition, or at two
// nearby calls.
func TestASearchOfPairsAlternatesThemWithTheStrategy(t *testing.T) {
	calm := known{Order: 10, Calls: some("call", 9), Writes: some("write", 2)}
	p := newPlan(Options{Strategy: "pct", Seed: 1, Shards: 1, Budget: 3, Pairs: true}, calm)
	again := 0
	for run := uint64(0); run < 100; run += 2 {
		c := p.of(context.Background(), run)
		require.Len(t, c.Faults, 2)
		assert.Equal(t, "two faults in the calm order", p.name(c))
		apart := c.Faults[1].Nth - c.Faults[0].Nth
		assert.True(t, apart > 0 && apart <= nearness, "%v", c.Faults)
		if apart == 1 {
			again++
		}
	}
	assert.Greater(t, again, 20)
	assert.Equal(t, p.of(context.Background(), 0), p.of(context.Background(), 0))
	alone := newPlan(Options{Strategy: "pct", Seed: 1, Shards: 1, Budget: 1, Pairs: true}, calm)
	assert.Empty(t, alone.of(context.Background(), 0).Faults, "two faults are more than the budget")
}

// A run of a swarm lacks some faults; all runs together have all of them.
func TestARunOfASwarmLacksSomeFaults(t *testing.T) {
	names := map[string]int{}
	for seed := uint64(1); seed <= 20; seed++ {
		f := faultPoints{absent: seed}
		for _, a := range effect.AtCall(fault.Space{Kinds: fault.Kinds(), Budget: 1}, effect.Called{OnNode: true}) {
			if f.has(a.Name) {
				names[a.Name]++
			}
		}
	}
	for name, runs := range names {
		assert.Less(t, runs, 20, name)
	}
	assert.Len(t, names, len(effect.AtCall(fault.Space{Kinds: fault.Kinds(), Budget: 1}, effect.Called{OnNode: true})))
}
