package machine_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// ownProcesses returns a machine with a separate process 1.
func ownProcesses(t *testing.T) *machine.Disk {
	m := newNamespace(t)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	if err := m.SharesProcesses(); err != nil {
		t.Skip("no process namespaces here: ", err)
	}
	return m
}

// A node plugin that enters the mount namespace of process 1 is on its node, and never on the
// computer on which csisim runs.
func TestAProgramInTheMountNamespaceOfProcessOneIsOnTheNode(t *testing.T) {
	const file = "/var/lib/csisim-test-entered"
	for _, enter := range []string{"nsenter -t 1 -m", "nsenter -t 1 -m -r", "nsenter --mount=/proc/1/ns/mnt", "nsenter -t 1 -m -p", "chroot /proc/1/root"} {
		t.Run(enter, func(t *testing.T) {
			m := ownProcesses(t)
			require.NoError(t, m.WriteFile(machine.KubeletDir+"/of-the-node", []byte("yes"), 0o600))
			c := shell(enter + " sh -c 'cat " + machine.KubeletDir + "/of-the-node && echo x >" + file + "'")
			c.Stderr = filepath.Join(t.TempDir(), "err.log")
			assert.Equal(t, "yes", run(t, m, c))
			assert.NoFileExists(t, file, "the host is as before")
			text, err := m.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, "x\n", string(text), "and the node has it")
		})
	}
}

// A driver mounts on its node as from a container, through the directory that shows the node's
// files.
func TestAMountMadeFromProcessOneBelongsToTheNode(t *testing.T) {
	m := ownProcesses(t)
	mkdirs(t, m, staging)
	c := shell("nsenter --mount=/rootfs/proc/1/ns/mnt -- mount -t tmpfs mine " + staging)
	c.Volumes = []machine.Volume{{Source: "/", Path: "/rootfs"}}
	before := mountTable(t)
	run(t, m, c)
	assert.Equal(t, before, mountTable(t), "the host's mount table")
	mounted, err := m.IsMountPoint(staging)
	require.NoError(t, err)
	assert.True(t, mounted)
	require.NoError(t, m.PowerOff())
	mounted, err = m.IsMountPoint(staging)
	require.NoError(t, err)
	assert.False(t, mounted, "it goes with the power")
}

func TestProgramsSeeTheProcessesOfTheirNodeOnly(t *testing.T) {
	m, other := ownProcesses(t), ownProcesses(t)
	for _, on := range []*machine.Disk{m, other} {
		p, err := on.Start(machine.Command{Path: "sleep", Args: []string{"1000.125"}})
		require.NoError(t, err)
		defer func() { require.NoError(t, p.Kill()) }()
	}
	seen := strings.Fields(run(t, m, shell("cd /proc && echo [0-9]*")))
	assert.Len(t, seen, 3, "process 1, the other program and the shell: %v", seen)
	assert.Equal(t, "1", seen[0])
}

// Process 1 has no parent, reaps orphans, and ignores signals.
func TestProcessOneDoesItsDuties(t *testing.T) {
	for _, first := range machine.FirstPrograms() {
		t.Run(path.Base(first), func(t *testing.T) {
			machine.SetFirstProgram(t, first)
			doesTheDutiesOfProcessOne(t, ownProcesses(t))
		})
	}
}

func doesTheDutiesOfProcessOne(t *testing.T, m *machine.Disk) {
	assert.Equal(t, "1 0\n", run(t, m, shell("kill -TERM 1; kill -KILL 1; kill -HUP 1; (true &); (sh -c true &); set -- $(cat /proc/1/stat); echo $1 $4")))
	assert.Equal(t, "none\n", run(t, m, shell("(sh -c 'true & exec sleep 0.01' &); sleep 0.1; while grep -q '^State:.Z' /proc/[0-9]*/status 2>/dev/null; do sleep 0.01; done; echo none")))
}

// Process 1 is a separate small program, so that the machine's programs find no part of csisim in
// it.
func TestProcessOneIsASmallSeparateProgram(t *testing.T) {
	m := ownProcesses(t)
	if len(machine.FirstPrograms()) == 1 {
		t.Skip("its code is not known for this processor, or files in memory are not executed here")
	}
	assert.Equal(t, "csisim-node\n/memfd:csisim-node (deleted)\n", run(t, m, shell("cat /proc/1/comm; readlink /proc/1/exe")))
	assert.Equal(t, "denied\n", run(t, m, shell("(echo x >/proc/1/exe) 2>/dev/null || echo denied")))
}

// Process numbers inside and outside differ: the killed process is the machine's.
func TestProgramsAreKilledByTheirNumbersOutside(t *testing.T) {
	m := ownProcesses(t)
	p, err := m.Start(machine.Command{Path: "sleep", Args: []string{"1000.0625"}})
	require.NoError(t, err)
	inside := strings.TrimSpace(run(t, m, shell("grep -lx 'sleep.1000.0625.' /proc/[0-9]*/cmdline -a | cut -d/ -f3")))
	outside, err := os.ReadFile("/proc/" + inside + "/cmdline")
	assert.False(t, err == nil && strings.HasPrefix(string(outside), "sleep\x001000.0625"), "the numbers differ")
	require.NoError(t, p.Kill())
	assert.Equal(t, "signal: killed", p.Exit())
}
