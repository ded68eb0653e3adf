package machine_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// onDisks runs a test on the machines that can run programs.
func onDisks(t *testing.T, test func(t *testing.T, m machine.Machine)) {
	for _, kind := range kinds[1:] {
		t.Run(kind.name, func(t *testing.T) {
			m := kind.make(t)
			t.Cleanup(func() { require.NoError(t, m.Close()) })
			test(t, m)
		})
	}
}

func shell(script string) machine.Command {
	return machine.Command{Path: "sh", Args: []string{"-c", script}}
}

func run(t *testing.T, m machine.Machine, c machine.Command) (stdout string) {
	c.Stdout = filepath.Join(t.TempDir(), "out.log")
	p, err := m.Start(c)
	require.NoError(t, err)
	<-p.Done()
	out, err := os.ReadFile(p.Stdout)
	require.NoError(t, err)
	require.Equal(t, "exit status 0", p.Exit())
	return string(out)
}

func TestProgramsSeeTheirEnvironment(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		c := shell(`echo "$ENDPOINT $(basename $CSISIM_RUN)"; pwd`)
		c.Env = []string{"ENDPOINT=e"}
		want := fmt.Sprintf("e n1\n%s\n", m.ProgramPath(machine.KubeletDir))
		assert.Equal(t, want, run(t, m, c))
	})
}

func TestProgramsSeeTheMachinesMounts(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		assert.Equal(t, "x", run(t, m, shell("cat "+m.ProgramPath(staging)+"/data")))
	})
}

func TestMachineSeesTheMountsOfPrograms(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		needRoot(t)
		mkdirs(t, m, staging)
		run(t, m, shell("mount -t tmpfs -o size=64k mine "+m.ProgramPath(staging)))
		mounts, err := m.Mounts()
		require.NoError(t, err)
		require.Len(t, mounts, 1)
		assert.Equal(t, staging, mounts[0].Target)
		assert.Equal(t, "mine", mounts[0].Source)
		assert.Equal(t, "tmpfs", mounts[0].FSType)
		assert.Equal(t, "/", mounts[0].Root)
		assert.ErrorIs(t, m.RemoveAll("/var/lib/kubelet/plugins"), syscall.EBUSY)
	})
}

func TestExitShowsHowAProgramEnded(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		failed, err := m.Start(shell("exit 3"))
		require.NoError(t, err)
		<-failed.Done()
		assert.Equal(t, "exit status 3", failed.Exit())
		assert.ErrorIs(t, failed.Signal(syscall.SIGTERM), os.ErrProcessDone)
		assert.NoError(t, failed.Kill())

		stopped, err := m.Start(machine.Command{Path: "sleep", Args: []string{"1000"}})
		require.NoError(t, err)
		assert.Empty(t, stopped.Exit())
		require.NoError(t, stopped.Stop(time.Minute))
		assert.Equal(t, "signal: terminated", stopped.Exit())

		_, err = m.Start(machine.Command{Path: "/no/such/driver"})
		assert.ErrorContains(t, err, "start /no/such/driver on node node-1")
	})
}

func TestStopKillsAfterItsGrace(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, out := startStubborn(t, m)
		defer out.Close()
		require.NoError(t, p.Stop(time.Millisecond))
		assert.Equal(t, "signal: killed", p.Exit())
	})
}

// startStubborn starts a program that ignores SIGTERM and has a child.
func startStubborn(t *testing.T, m machine.Machine) (*machine.Process, *os.File) {
	const fifo = machine.KubeletDir + "/ready"
	disk := m.(*machine.Disk)
	require.NoError(t, syscall.Mkfifo(disk.Path(fifo), 0o600))
	p, err := m.Start(shell("trap '' TERM; sleep 1000.5 & echo ready >" + disk.ProgramPath(fifo) + "; wait"))
	require.NoError(t, err)
	out, err := os.Open(disk.Path(fifo))
	require.NoError(t, err)
	return p, out
}

func TestKillKillsTheWholeGroup(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, out := startStubborn(t, m)
		defer out.Close()
		_, err := io.ReadAll(out)
		require.NoError(t, err)
		child := awaitProcess(t, "sleep 1000.5")
		require.NoError(t, p.Kill())
		awaitGone(t, child)
		assert.NoFileExists(t, fmt.Sprintf("/proc/%d", p.PID()), "no zombie is left")
	})
}

func TestLogsAreKeptPerInstance(t *testing.T) {
	m := newDisk(t)
	defer m.Close()
	log := filepath.Join(t.TempDir(), "driver.log")
	for _, want := range []string{log, strings.TrimSuffix(log, ".log") + ".2.log"} {
		c := shell("echo out; echo err >&2")
		c.Stdout, c.Stderr = log, log
		p, err := m.Start(c)
		require.NoError(t, err)
		<-p.Done()
		assert.Equal(t, want, p.Stdout)
		assert.Equal(t, want, p.Stderr)
		text, err := os.ReadFile(want)
		require.NoError(t, err)
		assert.Equal(t, "out\nerr\n", string(text))
	}
}

func TestPowerOffKillsPrograms(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, err := m.Start(machine.Command{Path: "sleep", Args: []string{"1000"}})
		require.NoError(t, err)
		require.NoError(t, m.PowerOff())
		assert.Equal(t, "signal: killed", p.Exit())
	})
}

func TestTheHostDoesNotSeeTheMountsOfANamespace(t *testing.T) {
	first, second := newNamespace(t), newNamespace(t)
	defer second.Close()
	before := mountTable(t)
	staged(t, first)
	assert.Equal(t, before, mountTable(t), "the host's mount table")
	assert.NotContains(t, run(t, second, shell("cat /proc/self/mountinfo")), first.ProgramPath(staging))
	assert.Contains(t, run(t, first, shell("cat /proc/self/mountinfo")), first.ProgramPath(staging))
	require.NoError(t, first.Close())
	assert.Equal(t, before, mountTable(t))
}

func mountTable(t *testing.T) string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return string(table)
}

func TestMountsAndNamespacesNeedRoot(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root is allowed to make namespaces")
	}
	_, err := machine.NewNamespace("node-1", t.TempDir(), false)
	assert.ErrorIs(t, err, machine.ErrNoPermission)
	assert.ErrorContains(t, err, "run as root")

	d := newDisk(t)
	defer d.Close()
	mkdirs(t, d, volume, staging)
	err = d.BindMount(volume, staging, false)
	assert.ErrorIs(t, err, machine.ErrNoPermission)
	assert.ErrorContains(t, err, "bind mount "+volume+" on "+staging+": no permission")
}

func TestKilledSimulatorLeavesNoProgramsAndNoMounts(t *testing.T) {
	needRoot(t)
	dir := shortDir(t)
	before := mountTable(t)
	simulator := exec.Command(os.Args[0], dir)
	simulator.Env = append(os.Environ(), "MACHINE_TEST_ROLE=simulator")
	out, err := simulator.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, simulator.Start())
	var pid int
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscan(line, &pid)
	require.NoError(t, err, line)

	require.NoError(t, simulator.Process.Kill())
	_ = simulator.Wait()
	awaitGone(t, pid)
	assert.Equal(t, before, mountTable(t))
	require.NoError(t, os.RemoveAll(dir), "nothing in the directory is busy")
}

// play runs the test binary in another role: a simulator with a mount and a program.
func play(string) {
	m, err := machine.NewNamespace("node-1", os.Args[1], false)
	if err == nil {
		err = m.BindMount(machine.KubeletDir, machine.KubeletDir, false)
	}
	var p *machine.Process
	if err == nil {
		p, err = m.Start(machine.Command{Path: "sleep", Args: []string{"1000"}})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.PID())
	<-p.Done()
}

// awaitProcess waits for a process with a command line, and returns its number outside its machine.
func awaitProcess(t *testing.T, line string) (pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range all {
			words, _ := os.ReadFile(file)
			if string(bytes.ReplaceAll(bytes.TrimRight(words, "\x00"), []byte{0}, []byte(" "))) == line {
				pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
				return true
			}
		}
		return false
	}, time.Minute, time.Millisecond, "no process %q", line)
	return pid
}

// awaitGone waits until a process that is not a child of this one has ended. It may stay a zombie
// if no init process of the machine reaps it.
func awaitGone(t *testing.T, pid int) {
	assert.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, time.Minute, time.Millisecond, "process %d is alive", pid)
}
