package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const recorded = "../../scenarios/golden/lifecycle-stub.jsonl"

// A trace equals a second recording of its scenario: exit code 0.
func TestDiffOfEqualTracesPasses(t *testing.T) {
	run := clitest.Run(t, "diff", recorded, "../../scenarios/golden/repeats/lifecycle-stub.jsonl")
	assert.Equal(t, exitPassed, run.Code, run.Stderr)
	assert.Contains(t, run.Stdout, "✓ calls")
	assert.NotContains(t, run.Stdout, "✗")
	assert.Contains(t, run.Stdout, "Not counted as differences")
}

// For a trace without its NodeUnstageVolume, the exit code is 1 and the first line of the result
// names the call.
func TestDiffShowsTheFirstDifference(t *testing.T) {
	text, err := os.ReadFile(recorded)
	require.NoError(t, err)
	var kept []string
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if !strings.Contains(line, "Node/NodeUnstageVolume") {
			kept = append(kept, line)
		}
	}
	changed := filepath.Join(t.TempDir(), "changed.jsonl")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Join(kept, "")), 0o644))

	run := clitest.Run(t, "diff", recorded, changed)
	assert.Equal(t, exitFailed, run.Code)
	first, _, _ := strings.Cut(run.Stdout, "✗")
	assert.Contains(t, first, "NodeUnstageVolume is only in A")
	assert.Contains(t, run.Stdout, "✗ calls")
	assert.Empty(t, run.Stderr)
}

// A file that is not a trace is reported in one line, with the file and the place.
func TestDiffOfFilesThatAreNoTraces(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.jsonl")
	require.NoError(t, os.WriteFile(other, []byte("{\"t\":0,\"k\":\"step\"}\n{\"some\":\"thing\"}\n"), 0o644))
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, test := range []struct {
		args    []string
		message string
	}{
		{nil, "two traces are needed, A and B"},
		{[]string{recorded}, "two traces are needed, A and B"},
		{[]string{recorded, "nowhere.jsonl"}, "nowhere.jsonl: no such file or directory"},
		{[]string{recorded, "diff.go"}, "diff.go: trace line 1: "},
		{[]string{recorded, os.DevNull}, os.DevNull + ": it is no file but a device or a socket; give a trace"},
		{[]string{"/dev/zero", recorded}, "/dev/zero: it is no file but a device or a socket; give a trace"},
		{[]string{recorded, pipe}, pipe + ": it is a pipe into which nothing was written for 2s"},
		{[]string{recorded, "testdata"}, "testdata: it is a directory; give a trace"},
		{[]string{recorded, other}, other + ": line 2 is not a line of a trace"},
		{[]string{"a", "b", "c"}, "unexpected argument c"},
	} {
		run := clitest.Run(t, append([]string{"diff"}, test.args...)...)
		assert.Equal(t, exitInput, run.Code, "%v", test.args)
		assert.Contains(t, run.Stderr, "csisim: "+test.message)
		assert.Contains(t, run.Stderr, "csisim diff --help")
		assert.Empty(t, run.Stdout)
	}
}
