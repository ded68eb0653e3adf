package machine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a machine in namespaces and a pod on it, when a program of each creates a System V segment,
// then programs of the same pod see the segment. It is invisible to csisim's host and to the other
// program.
func TestMachinesAndPodsHaveTheirOwnIPC(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	if _, err := exec.LookPath("ipcmk"); err != nil {
		t.Skip("it needs ipcmk")
	}
	pod, err := machine.NewIPC()
	require.NoError(t, err)
	defer pod.Close()
	before, err := os.ReadFile("/proc/sysvipc/shm")
	require.NoError(t, err)

	in := func(i *machine.IPC, script string) string {
		c := shell(script)
		c.IPC = i
		return strings.TrimSpace(run(t, m, c))
	}
	const makeOne, count = "ipcmk -M 4096 >/dev/null; tail -n +2 /proc/sysvipc/shm | wc -l", "tail -n +2 /proc/sysvipc/shm | wc -l"
	assert.Equal(t, "1", in(nil, makeOne))
	assert.Equal(t, "0", in(pod, count), "the machine's is not the pod's")
	assert.Equal(t, "1", in(pod, makeOne))
	assert.Equal(t, "2", in(pod, makeOne), "also that of an earlier program of the pod")
	assert.Equal(t, "1", in(nil, count))
	after, err := os.ReadFile("/proc/sysvipc/shm")
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "the host has no segment more")
}

// Given programs that use the udev of the host, then they share its semaphores, by which udev and
// device mapper synchronize.
func TestAMachineWithTheHostsUdevSharesItsIPC(t *testing.T) {
	needRoot(t)
	for dir, shares := range map[string]bool{"/run/udev": true, "/run": true, "/dev": false} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		m, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), "n1"), false, dir)
		require.NoError(t, err)
		own, err := os.Readlink("/proc/self/ns/ipc")
		require.NoError(t, err)
		its := strings.TrimSpace(run(t, m, shell("readlink /proc/self/ns/ipc")))
		assert.Equal(t, shares, own == its, dir)
		require.NoError(t, m.Close())
	}
}
