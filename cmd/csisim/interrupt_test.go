package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interrupted bounds the wall time from Ctrl-C until csisim ends.
const interrupted = 3 * time.Second

// busy returns a run that hangs in a call for an hour of wall time, after a pod got a file system
// and a raw block volume: there are mounts, a loop device and programs.
func busy(way string) string {
	hanging := `- name: bad.csi.example.com
  program: {command: [baddriver, "{{.Socket}}"], env: {BAD_DRIVER: "` + way + `"}}
`
	_, claim, _ := strings.Cut(claimOf("bad.csi.example.com"), "objects:\n")
	class, steps, _ := strings.Cut(claim, "steps:\n")
	return header + hostdirDriver + hanging + hostdirObjects + class + hostdirSteps + steps
}

// running is csisim in the middle of a run.
type running struct {
	*place
	command *exec.Cmd
	output  bytes.Buffer
	ended   chan struct{}
}

// start starts the scenario of a place and waits until begun returns true.
func start(t *testing.T, p *place, begun func() bool) *running {
	t.Helper()
	return startCommand(t, p, p.marked("run", "--patience", "1h", "s.yaml"), begun)
}

func startCommand(t *testing.T, p *place, c *exec.Cmd, begun func() bool) *running {
	t.Helper()
	r := &running{place: p, command: c, ended: make(chan struct{})}
	r.command.Stdout, r.command.Stderr = &r.output, &r.output
	require.NoError(t, r.command.Start())
	go func() {
		defer close(r.ended)
		_ = r.command.Wait() // the output shows the result
	}()
	require.Eventually(t, func() bool { return begun() || r.hasEnded() }, 20*time.Second, 5*time.Millisecond)
	if r.hasEnded() {
		require.FailNow(t, "it ended too early", r.output.String())
	}
	return r
}

// marked returns the command of the place with a mark for the call that hangs.
func (p *place) marked(args ...string) *exec.Cmd {
	c := p.command(append([]string{args[0], "--host-path", p.dir}, args[1:]...)...)
	c.Env = append(c.Env, "HANGING="+p.mark())
	return c
}

func (p *place) mark() string { return filepath.Join(p.dir, "hanging") }

func (p *place) hangs() bool { _, err := os.Stat(p.mark()); return err == nil }

func (r *running) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *running) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, r.command.Process.Signal(s))
}

// awaitEnd returns the code with which csisim ended, -1 for a signal.
func (r *running) awaitEnd(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-r.ended:
		return r.command.ProcessState.ExitCode()
	case <-time.After(within):
		require.FailNow(t, "csisim runs on", "for %v; it said:\n%s", within, r.output.String())
		return 0
	}
}

// startBusy starts a busy run, and makes sure that there is something to clean up.
func startBusy(t *testing.T, bin, way string) *running {
	t.Helper()
	p := newPlace(t, bin)
	p.write("s.yaml", busy(way))
	r := start(t, p, p.hangs)
	require.Len(t, p.programs("hostdir"), 2)
	require.Len(t, p.programs("baddriver"), 2)
	require.NotEmpty(t, p.loops(), "the raw block volume has a loop device")
	require.Empty(t, p.linesOf("/proc/self/mountinfo"), "mounts are in the namespaces of nodes")
	return r
}

func needsMounts(t *testing.T) {
	t.Helper()
	needsRoot(t)
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skip("this machine has no loop devices")
	}
}

func TestInterrupts(t *testing.T) {
	bin := build(t)
	for name, test := range map[string]func(*testing.T, string){
		"an interrupt ends the run and leaves nothing behind":  interruptEndsTheRun,
		"an interrupt ends the wait for a driver that starts":  interruptEndsAStart,
		"a second interrupt kills at once":                     secondInterruptKills,
		"a run that is killed in its namespaces is cleaned up": outerCleansUp,
	} {
		t.Run(name, func(t *testing.T) { test(t, bin) })
	}
}

// needsSignal skips a test if programs that it starts ignore a signal: those of nohup ignore SIGHUP.
func needsSignal(t *testing.T, s os.Signal) {
	t.Helper()
	if signal.Ignored(s) {
		t.Skipf("the tests ignore the signal %q, and csisim with them", s)
	}
}

func interruptEndsTheRun(t *testing.T, bin string) {
	needsMounts(t)
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
			needsSignal(t, test.signal)
			r := startBusy(t, bin, test.way)
			r.signal(t, test.signal)
			assert.Equal(t, test.code, r.awaitEnd(t, interrupted))
			assert.Contains(t, r.output.String(), "interrupted; everything of the run is cleaned up")
			assert.Empty(t, r.leftovers())
		})
	}
}

func interruptEndsAStart(t *testing.T, bin string) {
	for _, way := range []string{"never listens", "accepts only", "hangs in Probe", "hangs in ControllerGetCapabilities"} {
		t.Run(way, func(t *testing.T) {
			p := newPlace(t, bin)
			p.write("s.yaml", header+badDriver(way, "1h"))
			r := start(t, p, func() bool { return len(p.programs("baddriver")) > 0 })
			r.signal(t, syscall.SIGINT)
			assert.Equal(t, 130, r.awaitEnd(t, interrupted))
			assert.Empty(t, r.leftovers())
		})
	}
}

// The second Ctrl-C does not wait for programs; clean removes the rest.
func secondInterruptKills(t *testing.T, bin string) {
	needsMounts(t)
	r := startBusy(t, bin, "hangs in CreateVolume, ignores SIGTERM")
	r.signal(t, syscall.SIGINT)
	require.Eventually(t, func() bool { return len(r.programs("hostdir")) == 0 }, time.Second, time.Millisecond, "the first one is at work")
	require.False(t, r.hasEnded(), "baddriver is given its grace")
	r.signal(t, syscall.SIGINT)
	assert.Equal(t, -1, r.awaitEnd(t, time.Second/2))
	assert.Equal(t, syscall.SIGINT, r.command.ProcessState.Sys().(syscall.WaitStatus).Signal())
	r.awaitNoPrograms(t)
	r.cleans(t)
}

// The killed process is the one in the namespaces; its parent cleans up.
func outerCleansUp(t *testing.T, bin string) {
	needsMounts(t)
	r := startBusy(t, bin, "hangs in CreateVolume")
	for _, pid := range r.programs("exe") {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	assert.Equal(t, 137, r.awaitEnd(t, interrupted))
	assert.Contains(t, r.output.String(), "cleaned up after 1 run that had been killed:\n")
	assert.Contains(t, r.output.String(), "csisim: the run was killed\n")
	assert.Empty(t, r.leftovers())
}

func (r *running) awaitNoPrograms(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.programs("")) == 0 && !r.isLocked() }, interrupted, time.Millisecond, "programs die with csisim")
}

// cleans runs csisim clean after a killed run, and checks that nothing is left.
func (r *running) cleans(t *testing.T) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(r.work, "csisim-*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1, "the directory of the killed run")
	out, err := r.place.command("clean").CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Contains(t, string(out), "detached /dev/loop")
	assert.Contains(t, string(out), "removed "+dirs[0])
	assert.Empty(t, r.leftovers())
	again, err := r.place.command("clean").CombinedOutput()
	assert.NoError(t, err)
	assert.Equal(t, "nothing is left behind\n", string(again))
}

// A signal at any moment, also while csisim restarts itself in namespaces, gives the exit code of
// the signal.
func TestSignalsAtAnyMoment(t *testing.T) {
	needsNamespaces(t)
	bin := build(t)
	for name, args := range map[string][]string{
		"run": {"run", "--patience", "1h", "s.yaml"}, "validate": {"validate", ".", "s.yaml"},
	} {
		for i := range 24 {
			s := syscall.SIGINT
			if i%2 == 1 {
				s = syscall.SIGTERM
			}
			p := newPlace(t, bin)
			p.write("s.yaml", header+badDriver("hangs in CreateVolume", long))
			for copy := range map[string]int{"validate": 3000}[name] { // files that take long to read
				require.NoError(t, os.Link(filepath.Join(p.dir, "s.yaml"), fmt.Sprintf("%s/many-%d.yaml", p.dir, copy)))
			}
			c := exec.CommandContext(t.Context(), filepath.Join(p.bin, "csisim"), args...)
			c.Dir, c.Env = p.dir, p.command("x").Env
			require.NoError(t, c.Start())
			time.Sleep(time.Duration(i) * 8 * time.Millisecond)
			_ = c.Process.Signal(s)
			_ = c.Wait() // the code shows the result
			code := c.ProcessState.ExitCode()
			if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() { // it had no signal handler yet
				code = 128 + int(status.Signal())
			}
			assert.Equal(t, 128+int(s), code, "%s, after %d ms", name, 8*i)
			assert.Empty(t, p.programs("baddriver"))
		}
	}
}
