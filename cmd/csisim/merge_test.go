package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given two of three shards of a search, when they are merged, then one report has the runs of
// both, the finding, and the missing shard.
func TestShardsOfASearchAreMerged(t *testing.T) {
	dir := t.TempDir()
	scenario := filepath.Join(dir, "faulty.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte(clitest.Header+clitest.Faulty("faulty: [create-not-idempotent]")), 0o644))
	results := filepath.Join(dir, "results")
	for _, shard := range []string{"0/3", "2/3"} {
		got := clitest.Run(t, "explore", scenario, "--runs", "20", "--faults", "repeat", "--shard", shard, "--corpus", results, "--out", results)
		require.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
	}
	got := clitest.Run(t, "explore", "--merge", results)
	assert.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "40 runs of 3 shards, strategy ")
	assert.Contains(t, got.Stdout, "no corpus of shard 1: its runs are not in this report")
	assert.Contains(t, got.Stdout, "FINDING 1  ")
	assert.Contains(t, got.Stdout, " replay "+results)

	empty := clitest.Run(t, "explore", "--merge", t.TempDir())
	assert.Equal(t, 2, empty.Code)
	assert.Contains(t, empty.Stderr, "has no corpora and no findings")
	both := clitest.Run(t, "explore", "--merge", results, scenario)
	assert.Contains(t, both.Stderr, "it reads the results of shards, and searches no scenario")
}

// Given the shards of a load, when they are merged, then one report has the volumes of both.
func TestShardsOfALoadAreMerged(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	for _, shard := range []string{"0", "1"} {
		got, _ := loadOn(t, "", "--volumes", "5", "--runs", "1", "--shard", shard+"/2", "--json", filepath.Join(results, shard+".json"))
		require.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	}
	got := clitest.Run(t, "load", "--merge", results, "--fail-if", "count(NodePublishVolume) != 5")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "burst of 5 volumes on 2 nodes, 1 run each")
	require.NoError(t, os.Remove(filepath.Join(results, "1.json")))
	got = clitest.Run(t, "load", "--merge", results)
	assert.Contains(t, got.Stdout, "note: shard 1 of 2 is missing")
}

func TestTheJobOfALoad(t *testing.T) {
	got := clitest.Run(t, "load", "--job", "3", "--volumes", "1,30", "--fail-if", "p99(CreateVolume) > 1s", "--image", "registry.local/my-driver:1", "--", "my-driver", "--endpoint={{.Endpoint}}")
	require.Equal(t, 0, got.Code, got.Stderr)
	for _, line := range []string{
		"completions: 3", "image: registry.local/my-driver:1", "- --volumes=1", "- --volumes=30", "- --fail-if=p99(CreateVolume) > 1s", "- $(JOB_COMPLETION_INDEX)/3",
		"- /results/$(JOB_COMPLETION_INDEX).json", "- my-driver", "- --endpoint={{.Endpoint}}",
	} {
		assert.Contains(t, got.Stdout, line)
	}
	for flags, says := range map[string][]string{
		"its shards have --shard and --json of their own": {"--job", "2", "--json", "x"},
		"--image without --job":                           {"--image", "x"},
		"--shard 2/2: it must be i/n":                     {"--shard", "2/2"},
	} {
		got := clitest.Run(t, append(append([]string{"load"}, says...), "--", "my-driver")...)
		assert.Equal(t, 2, got.Code)
		assert.Contains(t, got.Stderr, flags)
	}
}
