package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// busy returns a run that hangs in a call for an hour of wall time, after a pod got a file system
// and a raw block volume. It then has mounts, a loop device and programs.
func busy(way string) string {
	hanging := `- name: bad.csi.example.com
  program: {command: [baddriver, "{{.Socket}}"], env: {BAD_DRIVER: "` + way + `"}}
`
	_, claim, _ := strings.Cut(clitest.ClaimOf("bad.csi.example.com"), "objects:\n")
	class, steps, _ := strings.Cut(claim, "steps:\n")
	return clitest.Header + clitest.HostdirDriver + hanging + clitest.HostdirObjects + class + clitest.HostdirSteps + steps
}

// startBusy starts a busy run, and makes sure that there is something to clean up.
func startBusy(t *testing.T, bin, way string) *clitest.Running {
	t.Helper()
	p := newPlace(t, bin)
	p.Write("s.yaml", busy(way))
	r := clitest.Start(t, p.Place, p.Hangs)
	require.Len(t, p.Programs("hostdir"), 2)
	require.Len(t, p.Programs("baddriver"), 2)
	require.NotEmpty(t, p.Loops(), "the raw block volume has a loop device")
	require.Empty(t, p.LinesOf("/proc/self/mountinfo"), "mounts are in the namespaces of nodes")
	return r
}

func TestInterrupts(t *testing.T) {
	bin := clitest.Build(t)
	for name, test := range map[string]func(*testing.T, string){
		"an interrupt ends the run and leaves nothing behind":  interruptEndsTheRun,
		"an interrupt ends the wait for a driver that starts":  interruptEndsAStart,
		"a second interrupt kills at once":                     secondInterruptKills,
		"a run that is killed in its namespaces is cleaned up": outerCleansUp,
	} {
		t.Run(name, func(t *testing.T) { test(t, bin) })
	}
}

// needsSignal skips a test if child processes ignore a signal. For example, nohup makes them ignore
// SIGHUP.
func interruptEndsTheRun(t *testing.T, bin string) {
	clitest.NeedsMounts(t)
	for _, test := range []struct {
		name, way string
		signal    syscall.Signal
		code      int
	}{
		{"Ctrl-C", "hangs in CreateVolume", syscall.SIGINT, 130},
		{"termination", "hangs in CreateVolume", syscall.SIGTERM, 143},
		{"the end of the terminal", "hangs in CreateVolume", syscall.SIGHUP, 129},
		{"programs that do not want to end", "hangs in CreateVolume, ignores SIGTERM", syscall.SIGINT, 130},
	} {
		t.Run(test.name, func(t *testing.T) {
			clitest.NeedsSignal(t, test.signal)
			r := startBusy(t, bin, test.way)
			r.Signal(t, test.signal)
			assert.Equal(t, test.code, r.AwaitEnd(t, clitest.Interrupted))
			assert.Contains(t, r.Output.String(), "interrupted; everything of the run is cleaned up")
			assert.Empty(t, r.Leftovers())
		})
	}
}

func interruptEndsAStart(t *testing.T, bin string) {
	for _, way := range []string{"never listens", "accepts only", "hangs in Probe", "hangs in ControllerGetCapabilities"} {
		t.Run(way, func(t *testing.T) {
			p := newPlace(t, bin)
			p.Write("s.yaml", clitest.Header+clitest.BadDriver(way, "1h"))
			r := clitest.Start(t, p.Place, func() bool { return len(p.Programs("baddriver")) > 0 })
			r.Signal(t, syscall.SIGINT)
			assert.Equal(t, 130, r.AwaitEnd(t, clitest.Interrupted))
			assert.Empty(t, r.Leftovers())
		})
	}
}

// The second Ctrl-C does not wait for programs; csisim clean removes the rest.
func secondInterruptKills(t *testing.T, bin string) {
	clitest.NeedsMounts(t)
	r := startBusy(t, bin, "hangs in CreateVolume, ignores SIGTERM")
	r.Signal(t, syscall.SIGINT)
	require.Eventually(t, func() bool { return len(r.Programs("hostdir")) == 0 }, time.Minute, time.Millisecond, "the first one is at work")
	require.False(t, r.HasEnded(), "baddriver is given its grace")
	r.Signal(t, syscall.SIGINT)
	assert.Equal(t, -1, r.AwaitEnd(t, clitest.Interrupted))
	assert.Equal(t, syscall.SIGINT, r.Command.ProcessState.Sys().(syscall.WaitStatus).Signal())
	r.AwaitNoPrograms(t)
	cleans(t, r)
}

// The killed process is the one in the namespaces; its parent cleans up.
func outerCleansUp(t *testing.T, bin string) {
	clitest.NeedsMounts(t)
	r := startBusy(t, bin, "hangs in CreateVolume")
	for _, pid := range r.Programs("exe") {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	assert.Equal(t, 137, r.AwaitEnd(t, clitest.Interrupted))
	assert.Contains(t, r.Output.String(), "cleaned up after 1 run that had been killed:\n")
	assert.Contains(t, r.Output.String(), "csisim: the run was killed\n")
	assert.Empty(t, r.Leftovers())
}

// cleans runs csisim clean after a killed run, and checks that nothing remains.
func cleans(t *testing.T, r *clitest.Running) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(r.Work, "csisim-*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1, "the directory of the killed run")
	out, err := r.Place.Command("clean").CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Contains(t, string(out), "detached /dev/loop")
	assert.Contains(t, string(out), "removed "+dirs[0])
	assert.Empty(t, r.Leftovers())
	again, err := r.Place.Command("clean").CombinedOutput()
	assert.NoError(t, err)
	assert.Equal(t, "nothing is left behind\n", string(again))
}

// A signal at any moment, even while csisim restarts itself in namespaces, gives the exit code of
// the signal.
func TestSignalsAtAnyMoment(t *testing.T) {
	clitest.NeedsNamespaces(t)
	bin := clitest.Build(t)
	for name, args := range map[string][]string{
		"run": {"run", "--patience", "1h", "s.yaml"}, "validate": {"validate", ".", "s.yaml"},
	} {
		for i := range 24 {
			s := syscall.SIGINT
			if i%2 == 1 {
				s = syscall.SIGTERM
			}
			p := newPlace(t, bin)
			p.Write("s.yaml", clitest.Header+clitest.BadDriver("hangs in CreateVolume", long))
			// Files that take a long time to read.
			for copy := range map[string]int{"validate": 3000}[name] {
				require.NoError(t, os.Link(filepath.Join(p.Dir, "s.yaml"), fmt.Sprintf("%s/many-%d.yaml", p.Dir, copy)))
			}
			c := exec.CommandContext(t.Context(), filepath.Join(p.Bin, "csisim"), args...)
			c.Dir, c.Env = p.Dir, p.Command("x").Env
			require.NoError(t, c.Start())
			time.Sleep(time.Duration(i) * 8 * time.Millisecond)
			_ = c.Process.Signal(s)
			_ = c.Wait() // the code shows the result
			code := c.ProcessState.ExitCode()
			// The process had no signal handler yet.
			if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				code = 128 + int(status.Signal())
			}
			assert.Equal(t, 128+int(s), code, "%s, after %d ms", name, 8*i)
			assert.Empty(t, p.Programs("baddriver"))
		}
	}
}
