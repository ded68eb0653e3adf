package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const recorded = "../../scenarios/golden/lifecycle-stub.jsonl"

// A trace equals a second recording of its scenario: exit code 0.
func TestDiffOfEqualTracesPasses(t *testing.T) {
	run := csisim(t, "diff", recorded, "../../scenarios/golden/repeats/lifecycle-stub.jsonl")
	assert.Equal(t, exitPassed, run.code, run.stderr)
	assert.Contains(t, run.stdout, "✓ calls")
	assert.NotContains(t, run.stdout, "✗")
	assert.Contains(t, run.stdout, "Not counted as differences")
}

// For a trace without its NodeUnstageVolume, the exit code is 1 and the call is named first.
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

	run := csisim(t, "diff", recorded, changed)
	assert.Equal(t, exitFailed, run.code)
	first, _, _ := strings.Cut(run.stdout, "✗")
	assert.Contains(t, first, "NodeUnstageVolume is only in A")
	assert.Contains(t, run.stdout, "✗ calls")
	assert.Empty(t, run.stderr)
}

// A file that is not a trace is reported in one line, with the file and the place.
func TestDiffOfWhatIsNoTrace(t *testing.T) {
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
		run := csisim(t, append([]string{"diff"}, test.args...)...)
		assert.Equal(t, exitInput, run.code, "%v", test.args)
		assert.Contains(t, run.stderr, "csisim: "+test.message)
		assert.Contains(t, run.stderr, "csisim diff --help")
		assert.Empty(t, run.stdout)
	}
}
