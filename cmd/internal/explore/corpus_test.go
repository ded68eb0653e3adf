package explore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
)

// names are how the runs of a plan are called, some of them.
func names(p *plan, runs uint64) (all []string) {
	for run := range runs {
		c := p.of(context.Background(), run)
		name := p.name(c)
		for _, choice := range c.faults {
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
	calm := known{order: 10, calls: some("call", 3), writes: some("write", 2)}
	o := Options{Strategy: "pct", Seed: 1, Shards: 1, Space: fault.Space{Budget: 3}}
	whole := names(newPlan(o, calm, &Corpus{}), 12)
	assert.Equal(t, []string{
		"one fault in the calm order: call: answer lost", "one fault in the calm order: call, time 2: answer lost",
		"one fault in the calm order: call, time 3: answer lost", "pct, seed 1", "one fault in the calm order: write: answer lost",
		"pct, seed 2", "one fault in the calm order: write, time 2: answer lost", "pct, seed 3", "pct, seed 4", "pct, seed 5", "pct, seed 6", "pct, seed 7",
	}, whole)
	assert.Equal(t, whole[5:], names(newPlan(o, calm, &Corpus{Runs: 5}), 7))
	var shared []string
	for o.Shard, o.Shards = 0, 3; o.Shard < o.Shards; o.Shard++ {
		shared = append(shared, names(newPlan(o, calm, &Corpus{}), 4)...)
	}
	slices.Sort(shared)
	slices.Sort(whole)
	assert.Equal(t, whole, shared)
}

// A guided search goes on with what the corpora of all shards have kept.
func TestACorpusIsKeptAndReadAgain(t *testing.T) {
	dir := t.TempDir()
	search := func(shard int) *Search {
		o := usual(40)
		o.Strategy, o.Corpus, o.Shard, o.Shards = "guided", dir, shard, 2
		s, err := Of(context.Background(), filepath.Join(scenarios, "lifecycle.yaml"), textOf(t, "lifecycle"), o)
		require.NoError(t, err)
		return s
	}
	first, other := search(0), search(1)
	assert.Zero(t, first.Before()+other.Before())
	again := search(0)
	assert.Equal(t, 40, again.Before())
	assert.NotEmpty(t, again.plan.again)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 2, "one file a shard, and none that is not whole")
}

func TestACorpusOfAnotherScenarioIsRefused(t *testing.T) {
	dir := t.TempDir()
	o := usual(1)
	o.Shards = 1
	require.NoError(t, corpusOf("lifecycle.yaml", []byte("another text"), o).write(dir))
	require.NoError(t, corpusOf("else.yaml", nil, o).write(dir))
	o.Corpus = dir
	_, err := Of(context.Background(), filepath.Join(scenarios, "lifecycle.yaml"), textOf(t, "lifecycle"), o)
	assert.ErrorContains(t, err, "lifecycle-pct-1-0of1.corpus.yaml is of another text of lifecycle.yaml: give another directory, or remove it")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.corpus.yaml"), []byte("kind: Corpus\n"), 0o600))
	_, err = Of(context.Background(), filepath.Join(scenarios, "lifecycle.yaml"), textOf(t, "lifecycle"), o)
	assert.ErrorContains(t, err, "a.corpus.yaml:1")
}
