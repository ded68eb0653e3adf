package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// searched runs the built command csisim explore in a place.
func searched(t *testing.T, p *place, args ...string) clitest.Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := p.Command(append([]string{"explore"}, args...)...)
	c.Stdout, c.Stderr = &stdout, &stderr
	_ = c.Run() // the exit code shows the result
	return clitest.Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Code: c.ProcessState.ExitCode()}
}

// Given a driver program that hangs, leaks memory or leaves processes outside its session, when
// csisim explore searches with one such program per run, then the search makes all its runs, or
// explains in one sentence why it does not begin. In both cases nothing remains.
func TestSearchesOfBadDriversLeaveNothingBehind(t *testing.T) {
	bin := clitest.Build(t)
	for _, test := range []struct {
		way, startTimeout string
		code              int
		says              string
	}{
		{"exits", long, 3, "start driver bad.csi.example.com, controller: program exited before it answered: exit status 3"},
		{"never listens", short, 3, "no process listens at the socket: there is no "},
		{"hangs in Probe", short, 3, "no answer to Identity/Probe (waited 300ms)"},
		{"hangs in ControllerGetCapabilities", short, 3, "ask driver bad.csi.example.com, controller for its capabilities (ControllerGetCapabilities): no answer within 300ms"},
		{"hangs in CreateVolume", long, 1, "bad fails in the calm run, without any fault, so it was not searched"},
		{"leaks memory", long, 0, "12 runs, "},
		{"leaves children", long, 0, "12 runs, "},
		{"leaves children, ignores SIGTERM", long, 0, "12 runs, "},
	} {
		t.Run(test.way, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, bin)
			p.Write("bad.yaml", clitest.Header+strings.Replace(clitest.BadDriver(test.way, test.startTimeout), "phase: Bound", "phase: Bound, for: 12s", 1))
			got := searched(t, p, "bad.yaml", "--runs", "12", "--faults", "error,api")
			assert.Equal(t, test.code, got.Code, got.Stdout+got.Stderr)
			assert.Contains(t, got.Stdout+got.Stderr, test.says)
			assert.Empty(t, p.Leftovers())
		})
	}
}

// A search that is interrupted at any moment ends its programs and leaves nothing behind.
func TestAnInterruptEndsASearch(t *testing.T) {
	bin := clitest.Build(t)
	for _, way := range []string{"never listens", "hangs in Probe", "hangs in ControllerGetCapabilities", "hangs in CreateVolume", "hangs in CreateVolume, ignores SIGTERM", "leaks memory", "leaves children"} {
		t.Run(way, func(t *testing.T) {
			p := newPlace(t, bin)
			p.Write("s.yaml", clitest.Header+clitest.BadDriver(way, "1h"))
			r := clitest.StartCommand(t, p.Place, p.Command("explore", "s.yaml"), func() bool { return len(p.Programs("baddriver")) > 0 })
			r.Signal(t, syscall.SIGINT)
			assert.Equal(t, 130, r.AwaitEnd(t, clitest.Interrupted), r.Output.String())
			assert.Empty(t, r.Leftovers())
		})
	}
}

// Unusable input of a search or a replay is reported in one sentence that names the file.
func TestCorporaAndReplaysThatDoNotFitAreRejected(t *testing.T) {
	dir, file := exploredIn(t, "attach-not-idempotent")
	corpus := filepath.Join(dir, "corpus")
	require.NoError(t, os.Mkdir(corpus, 0o755))
	search := []string{"explore", file, "--runs", "3", "--faults", "repeat", "--out", dir, "--corpus", corpus}
	require.Equal(t, 1, clitest.Run(t, search...).Code, "it has a finding")
	kept, err := filepath.Glob(corpus + "/*.corpus.yaml")
	require.NoError(t, err)
	require.Len(t, kept, 1)
	was, err := os.ReadFile(kept[0])
	require.NoError(t, err)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(text, "# changed\n"...), 0o600))
	got := clitest.Run(t, search...)
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, filepath.Base(kept[0])+" is of another text of mine.yaml: give another directory, or remove it")
	require.NoError(t, os.WriteFile(file, text, 0o600))

	require.NoError(t, os.WriteFile(kept[0], bytes.Replace(was, []byte("csisim.dev/v1alpha1"), []byte("csisim.dev/v9"), 1), 0o600))
	got = clitest.Run(t, search...)
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, filepath.Base(kept[0])+":")
	assert.Contains(t, got.Stderr, "csisim.dev/v9")
}
