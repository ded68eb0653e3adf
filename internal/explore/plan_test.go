package explore

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
)

// names are how the runs of a plan are called, some of them.
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

// some are the points of a calm run.
func some(of string, n int) (all []point) {
	for i := range n {
		all = append(all, point{Choice{Kind: "fault", Of: of, Nth: i + 1}, []string{"no fault", "answer lost"}})
	}
	return all
}

// The shards of a search make the runs of the whole, each of them once, and a search that goes on those that come next.
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

// A run of a swarm lacks some faults; together its runs have all.
func TestARunOfASwarmLacksSomeFaults(t *testing.T) {
	names := map[string]int{}
	for seed := uint64(1); seed <= 20; seed++ {
		f := faultPoints{absent: seed}
		for _, a := range (fault.Space{Kinds: fault.Kinds(), Budget: 1}).AtCall(fault.Called{OnNode: true}) {
			if f.has(a.Name) {
				names[a.Name]++
			}
		}
	}
	for name, runs := range names {
		assert.Less(t, runs, 20, name)
	}
	assert.Len(t, names, len(fault.Space{Kinds: fault.Kinds(), Budget: 1}.AtCall(fault.Called{OnNode: true})))
}
