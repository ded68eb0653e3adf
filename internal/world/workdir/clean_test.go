package workdir_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/workdir"
)

func TestMain(m *testing.M) {
	if parent := os.Getenv("WORKDIR_TEST_PARENT"); parent != "" {
		simulate(parent)
		return
	}
	namespaces.Enter()
	goleak.VerifyTestMain(m)
}

// simulate runs the test binary in the role of a run. It creates a work directory, starts a program
// that outlives it, reports that, and waits until it is killed.
func simulate(parent string) {
	create := workdir.New
	if filepath.Base(parent) == "kept" {
		create = workdir.Keep
	}
	dir, err := create(parent)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	program := exec.Command("sleep", "1000")
	program.Env = append(os.Environ(), workdir.EnvRun+"="+dir.Path()+"/n1")
	if err := program.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(dir.Path(), program.Process.Pid)
	_ = program.Wait()
}

// startRun starts a run in its own process.
func startRun(t *testing.T, parent string) (run *exec.Cmd, dir string, program int) {
	run = exec.Command(os.Args[0])
	run.Env = append(os.Environ(), "WORKDIR_TEST_PARENT="+parent)
	out, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		_ = run.Process.Kill() // most tests have already killed it
		_ = run.Wait()
		_, err := workdir.Clean(parent)
		assert.NoError(t, err)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscan(line, &dir, &program)
	require.NoError(t, err, line)
	return run, dir, program
}

func kill(t *testing.T, run *exec.Cmd) {
	require.NoError(t, run.Process.Kill())
	_ = run.Wait()
}

func TestCleanRemovesAKilledRun(t *testing.T) {
	parent := t.TempDir()
	run, dir, program := startRun(t, parent)
	kill(t, run)

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	want := workdir.Report{Runs: []workdir.Leftover{{
		Dir:    dir,
		Killed: []workdir.Program{{PID: program, Name: "sleep"}},
	}}}
	assert.Equal(t, want, report)
	assert.Equal(t, fmt.Sprintf("killed process %d (sleep)\nremoved %s\n", program, dir), report.String())
	assertEnded(t, program)
	assertEmpty(t, parent)

	report, err = workdir.Clean(parent)
	require.NoError(t, err)
	assert.Empty(t, report.String(), "a second look finds nothing")
}

// A killed process keeps its lock until its last thread has ended.
func TestCleanWaitsForARunThatDies(t *testing.T) {
	parent := t.TempDir()
	for range 20 {
		run, _, program := startRun(t, parent)
		require.NoError(t, run.Process.Kill())
		report, err := workdir.Clean(parent)
		require.NoError(t, err)
		assert.Len(t, report.Runs, 1)
		assertEmpty(t, parent)
		assertEnded(t, program)
	}
}

func TestARelativeParentIsAllowed(t *testing.T) {
	parent := t.TempDir()
	run, dir, program := startRun(t, parent)
	kill(t, run)
	t.Chdir(filepath.Dir(parent))

	report, err := workdir.Clean(filepath.Base(parent))
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("killed process %d (sleep)\nremoved %s\n", program, dir), report.String())
	assertEnded(t, program)
}

func TestCleanLeavesLiveRunsAlone(t *testing.T) {
	parent := t.TempDir()
	run, dir, program := startRun(t, parent)
	own, err := workdir.New(parent)
	require.NoError(t, err)

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	assert.Empty(t, report)
	assert.DirExists(t, dir)
	assert.DirExists(t, own.Path())
	assert.FileExists(t, fmt.Sprintf("/proc/%d/environ", program))

	require.NoError(t, own.Close())
	kill(t, run)
	_, err = workdir.Clean(parent)
	require.NoError(t, err)
	assertEnded(t, program)
}

func TestCleanUnmountsAndDetaches(t *testing.T) {
	needRoot(t)
	parent := t.TempDir()
	run, dir, _ := startRun(t, parent)
	kill(t, run)
	volume := filepath.Join(t.TempDir(), "volume")
	require.NoError(t, os.MkdirAll(volume+"/sub", 0o755))
	require.NoError(t, os.WriteFile(volume+"/data", nil, 0o600))
	target := dir + "/mount"
	require.NoError(t, os.Mkdir(target, 0o755))
	bind(t, volume, target)
	bind(t, volume, target+"/sub")
	loop := attachLoop(t, dir+"/image")

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	require.Len(t, report.Runs, 1)
	assert.Equal(t, []string{target + "/sub", target}, report.Runs[0].Unmounted, "deepest first")
	assert.Equal(t, []string{loop}, report.Runs[0].Detached)
	assert.FileExists(t, volume+"/data")
	assertEmpty(t, parent)
	assertDetached(t, loop)
}

func TestCleanTouchesNoOtherDirectory(t *testing.T) {
	parent := t.TempDir()
	outside := t.TempDir()
	for _, name := range []string{"other", "csisim-", "csisim-1-x", "csisim-1-1-1"} {
		require.NoError(t, os.Mkdir(filepath.Join(parent, name), 0o755))
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(parent, "csisim-1-2")))
	starting := fmt.Sprintf("csisim-%d-99", os.Getpid()) // its run is about to create the lock
	require.NoError(t, os.Mkdir(filepath.Join(parent, starting), 0o700))

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	assert.Empty(t, report)
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Len(t, entries, 6)
}

func TestCleanRemovesARunThatDiedBeforeItsLock(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "csisim-999999999-1") // no process has this number
	require.NoError(t, os.Mkdir(dir, 0o700))
	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	assert.Equal(t, "removed "+dir+"\n", report.String())
}

// Process numbers are reused: a process that is older than the run does not belong to it.
func TestCleanSparesProcessesOlderThanTheRun(t *testing.T) {
	parent := t.TempDir()
	run, dir, program := startRun(t, parent)
	kill(t, run)
	late := fmt.Sprintf("%d %d\n", run.Process.Pid, uint64(1)<<62)
	require.NoError(t, os.WriteFile(dir+"/.lock", []byte(late), 0o600))

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	assert.Equal(t, "removed "+dir+"\n", report.String())
	assert.NoError(t, unix.Kill(program, unix.SIGKILL), "it is alive until now")
	assertEnded(t, program)
}

func TestCleanOfAMissingParentIsAnError(t *testing.T) {
	_, err := workdir.Clean(filepath.Join(t.TempDir(), "no"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// attachLoop makes a loop device for a new file.
func attachLoop(t *testing.T, image string) string {
	needRoot(t)
	require.NoError(t, os.WriteFile(image, make([]byte, 1<<20), 0o600))
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skipf("no loop device is to be had: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// backing returns the path that contains the file of a loop device, while the device is attached.
func backing(device string) string {
	return strings.Replace(device, "/dev", "/sys/block", 1) + "/loop/backing_file"
}

// assertDetached waits until a loop device has no file, because an open device is detached only
// when it is closed.
func assertDetached(t *testing.T, device string) {
	t.Helper()
	assert.Eventually(t, func() bool {
		_, err := os.Stat(backing(device))
		return os.IsNotExist(err)
	}, time.Minute, time.Millisecond, "%s shows a file", device)
}

// assertEnded waits for the end of a process that is not a child of this one. It may stay a zombie
// if no init process of the machine reaps it.
func assertEnded(t *testing.T, pid int) {
	assert.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, time.Minute, time.Millisecond, "process %d is alive", pid)
}
