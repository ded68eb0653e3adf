package clitest

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Interrupted bounds the wall time from Ctrl-C to the end of csisim. The bound is tight in nightly
// tests, which run on an idle machine, and loose otherwise. It is shorter than the calls that hang
// in the tests.
var Interrupted = interrupted()

func interrupted() time.Duration {
	if Nightly() {
		return 3 * time.Second
	}
	return 20 * time.Second
}

// Running is csisim in the middle of a run.
type Running struct {
	*Place
	Command *exec.Cmd
	Output  bytes.Buffer
	Ended   chan struct{}
}

// Start starts the scenario of a place and waits until begun returns true.
func Start(t *testing.T, p *Place, begun func() bool) *Running {
	t.Helper()
	return StartCommand(t, p, p.Marked("run", "--patience", "1h", "s.yaml"), begun)
}

func StartCommand(t *testing.T, p *Place, c *exec.Cmd, begun func() bool) *Running {
	t.Helper()
	r := &Running{Place: p, Command: c, Ended: make(chan struct{})}
	r.Command.Stdout, r.Command.Stderr = &r.Output, &r.Output
	require.NoError(t, r.Command.Start())
	go func() {
		defer close(r.Ended)
		_ = r.Command.Wait() // the output shows the result
	}()
	require.Eventually(t, func() bool { return begun() || r.HasEnded() }, 10*time.Minute, 5*time.Millisecond)
	if r.HasEnded() {
		require.FailNow(t, "it ended too early", r.Output.String())
	}
	return r
}

// Marked returns the command of the place with a mark for the call that hangs.
func (p *Place) Marked(args ...string) *exec.Cmd {
	c := p.Command(append([]string{args[0], "--host-path", p.Dir}, args[1:]...)...)
	c.Env = append(c.Env, "HANGING="+p.Mark())
	return c
}

func (p *Place) Mark() string { return filepath.Join(p.Dir, "hanging") }

func (p *Place) Hangs() bool { _, err := os.Stat(p.Mark()); return err == nil }

func (r *Running) HasEnded() bool {
	select {
	case <-r.Ended:
		return true
	default:
		return false
	}
}

func (r *Running) Signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, r.Command.Process.Signal(s))
}

// AwaitEnd returns the exit code of csisim, or -1 for a signal.
func (r *Running) AwaitEnd(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-r.Ended:
		return r.Command.ProcessState.ExitCode()
	case <-time.After(within):
		require.FailNow(t, "csisim runs on", "for %v; it said:\n%s", within, r.Output.String())
		return 0
	}
}

// AwaitNoPrograms waits until csisim and the programs of a killed run have exited.
func (r *Running) AwaitNoPrograms(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.Programs("")) == 0 && !r.IsLocked() }, Interrupted, time.Millisecond, "programs die with csisim")
}

// NeedsSignal skips the test where the signal is ignored.
func NeedsSignal(t *testing.T, s os.Signal) {
	t.Helper()
	if signal.Ignored(s) {
		t.Skipf("the tests ignore the signal %q, and csisim with them", s)
	}
}
