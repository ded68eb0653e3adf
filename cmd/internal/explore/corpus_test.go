package explore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A guided search continues with the kept runs of all shards.
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
	assert.NotEmpty(t, again.corpus.Kept)
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
