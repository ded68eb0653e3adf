package machine_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// processes is a script that prints the command lines of all visible processes, by their numbers.
const processes = `for p in /proc/[0-9]*; do read -r line <$p/comm && echo ${p#/proc/} $line; done`

func TestAContainerHasASeparateProcessOne(t *testing.T) {
	m, dir := ownProcesses(t), image(t)
	neighbour, err := m.Start(inRoot(machine.Root{Dir: dir}, "while :; do :; done"))
	require.NoError(t, err)
	defer func() { require.NoError(t, neighbour.Kill()) }()
	assert.Equal(t, "1 sh\n", run(t, m, inRoot(machine.Root{Dir: dir}, processes)), "neither the node's nor other containers'")
	seen := run(t, m, inRoot(machine.Root{Dir: dir, HostProcesses: true}, processes))
	assert.Regexp(t, `(?m)^1 (csisim-node|exe)$`, seen, "those of the node")
	assert.Greater(t, strings.Count(seen, " sh\n"), 1, "and of its containers")
	assert.Equal(t, "refused\n", run(t, m, inRoot(machine.Root{Dir: dir}, "touch /proc/sys/kernel/hostname && echo x 2>/dev/null >/proc/sys/kernel/hostname && echo done || echo refused")))
}

func TestACommandBesideAContainerSeesItsProcesses(t *testing.T) {
	m, dir := ownProcesses(t), image(t)
	host, err := m.Start(inRoot(machine.Root{Dir: dir}, "while :; do :; done"))
	require.NoError(t, err)
	c := machine.Command{Path: "sh", Args: []string{"-c", processes}, Env: []string{"PATH=/bin"}, Bare: true, Dir: "/", Beside: host}
	seen := strings.Split(strings.TrimSpace(run(t, m, c)), "\n")
	require.Len(t, seen, 2)
	assert.Equal(t, "1 sh", seen[0])
	require.NoError(t, host.Kill())
	_, err = m.Start(c)
	assert.Error(t, err)
}

// As in a cluster, process 1 ignores a signal that it does not handle, except SIGKILL.
func TestAContainerEndsWithAllItsProcesses(t *testing.T) {
	m, dir := ownProcesses(t), image(t)
	deaf, err := m.Start(inRoot(machine.Root{Dir: dir}, "(while :; do :; done) & (while :; do :; done)"))
	require.NoError(t, err)
	require.NoError(t, deaf.Signal(syscall.SIGTERM))
	select {
	case <-deaf.Done():
		t.Fatal("ended by SIGTERM: ", deaf.Exit())
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, deaf.Kill())
	assert.Equal(t, 128+9, deaf.ExitCode())
	assert.Equal(t, 1, strings.Count(run(t, m, inRoot(machine.Root{Dir: dir, HostProcesses: true}, processes)), " sh\n"), "nothing is left")

	ready, err := m.Start(inRoot(machine.Root{Dir: dir}, "trap 'exit 7' TERM; touch /ready; while :; do :; done"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return run(t, m, machine.Command{Path: "ls", Args: []string{"/"}, Env: []string{"PATH=/bin"}, Bare: true, Dir: "/", Beside: ready}) != "" &&
			strings.Contains(run(t, m, machine.Command{Path: "ls", Args: []string{"/"}, Env: []string{"PATH=/bin"}, Bare: true, Dir: "/", Beside: ready}), "ready")
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, ready.Stop(10*time.Second))
	assert.Equal(t, 7, ready.ExitCode())
}

// shareProcessNamespace: a program without a path holds the namespace, like the pause container of
// a pod.
func TestContainersShareTheProcessesOfAnother(t *testing.T) {
	m, dir := ownProcesses(t), image(t)
	hold := inRoot(machine.Root{Dir: dir}, "")
	hold.Path, hold.Args = "", nil
	pause, err := m.Start(hold)
	require.NoError(t, err)
	one, err := m.Start(inRoot(machine.Root{Dir: dir, Processes: pause}, "while :; do :; done"))
	require.NoError(t, err)
	seen := run(t, m, inRoot(machine.Root{Dir: dir, Processes: pause}, processes))
	assert.Contains(t, seen, "1 exe\n")
	assert.Equal(t, 2, strings.Count(seen, " sh\n"), seen)
	require.NoError(t, pause.Kill())
	<-one.Done()
	assert.Equal(t, 128+9, one.ExitCode(), "it ends with the namespace")
}
