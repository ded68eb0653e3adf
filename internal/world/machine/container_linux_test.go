package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/machine"
)

// instance runs a script as an instance of a container.
func instance(t *testing.T, m *machine.Disk, before *machine.Process, script string, keeps ...string) (*machine.Process, string) {
	t.Helper()
	c := shell(script)
	c.Container, c.Followed = &machine.Container{Keeps: keeps, Before: before}, true
	c.Stdout = filepath.Join(t.TempDir(), "out.log")
	c.Stderr = c.Stdout
	p, err := m.Start(c)
	require.NoError(t, err)
	<-p.Done()
	out, err := os.ReadFile(p.Stdout)
	require.NoError(t, err)
	require.Equal(t, "exit status 0", p.Exit(), string(out))
	return p, string(out)
}

// Given a container that has written to many places, when it is restarted, then it finds the host's
// content, the kubelet's directory, and the shared or kept directories. All other files are lost,
// also at the next restart.
func TestARestartedContainerHasAFreshRoot(t *testing.T) {
	needRoot(t)
	host, through := shortDir(t), shortDir(t)
	for _, name := range []string{"changed", "removed"} {
		require.NoError(t, os.WriteFile(host+"/"+name, []byte("of the host\n"), 0o666))
	}
	m, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), "n1"), false, through)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	write := "mkdir -p /var/lib/csisim-test/deep /csi-data-dir && for f in /var/lib/csisim-test/deep/x /csi-data-dir/x /csisim-test " +
		host + "/changed /csisim-kept/deep/x " + through + "/x /var/lib/kubelet/x; do echo mine >$f; done; rm " + host + "/removed"
	read := "cd " + host + "; cat changed removed; for f in /var/lib/csisim-test/deep/x /csi-data-dir/x /csisim-test; do test -e $f && echo $f stays; done;" +
		"cat /csisim-kept/deep/x " + through + "/x /var/lib/kubelet/x; hostname"
	const want = "of the host\nof the host\nmine\nmine\nmine\nnode-1\n"

	first, _ := instance(t, m, nil, write, "/csisim-kept/deep")
	require.Empty(t, first.Lookups())
	second, out := instance(t, m, first, read+"; "+write, "/csisim-kept/deep")
	assert.Equal(t, want, out)
	assert.Equal(t, []machine.Lookup{
		{Path: "/var/lib/csisim-test/deep/x", How: "looked up"}, {Path: "/csi-data-dir/x", How: "looked up"}, {Path: "/csisim-test", How: "looked up"},
	}, second.Lookups())
	third, out := instance(t, m, second, read, "/csisim-kept/deep")
	assert.Equal(t, want, out)
	assert.Len(t, third.Lookups(), 3)
	assert.NotEmpty(t, third.Memory())
	assert.Subset(t, m.Memory(), third.Memory())

	written, err := m.Written()
	require.NoError(t, err)
	assert.Equal(t, []string{"made /csisim-test", "changed " + host + "/changed", "removed " + host + "/removed", "made /var/lib/csisim-test/"}, written)
}

// A temporary file of the host may be deleted while a container is prepared.
func TestAFileThatTheHostDeletesIsNotCarriedIntoAContainer(t *testing.T) {
	needRoot(t)
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	require.NoError(t, machine.AttachDeleted(name))
	assert.NoFileExists(t, name)
}

// Given a restarted container, when it mounts below the kubelet's directory, then the node sees
// that mount. When it mounts elsewhere, no other program sees the mount.
func TestTheMountsOfARestartedContainerPropagateAsBefore(t *testing.T) {
	needRoot(t)
	m := newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	first, _ := instance(t, m, nil, "mkdir -p /var/lib/csisim-test /var/lib/kubelet/a /var/lib/kubelet/b; mount -t tmpfs first /var/lib/kubelet/a; mount -t tmpfs own /var/lib/csisim-test")
	second, out := instance(t, m, first, "stat -f -c %T /var/lib/kubelet/a; mkdir -p /var/lib/csisim-test; stat -f -c %T /var/lib/csisim-test /proc /sys; mount -t tmpfs second /var/lib/kubelet/b; umount /var/lib/kubelet/a; mount -t tmpfs own /var/lib/csisim-test")
	assert.Equal(t, "tmpfs\noverlayfs\nproc\nsysfs\n", out)
	assert.Empty(t, second.Lookups(), "a directory is made again, not read")
	mounts, err := m.Mounts()
	require.NoError(t, err)
	require.Len(t, mounts, 1)
	assert.Equal(t, "/var/lib/kubelet/b", mounts[0].Target)
	assert.Equal(t, "second", mounts[0].Source)
	_, out = instance(t, m, second, "ls -d /proc/[0-9]* | wc -l")
	assert.NotEqual(t, "0\n", out)
}

// Given a container with volumes below the kubelet's directory, when it mounts there, then the
// mount propagates to the node if the volume is shared. When the node mounts there, the container
// sees the mount unless the volume is private.
func TestVolumesOfAContainerHaveSeparatePropagations(t *testing.T) {
	needRoot(t)
	const dir, kept = machine.KubeletDir + "/v", "/csi-data-dir/kept"
	for name, c := range map[string]struct {
		volume          machine.Volume
		reaches, enters bool
	}{
		"Bidirectional":            {machine.Volume{Source: dir, Path: dir}, true, true},
		"HostToContainer":          {machine.Volume{Source: dir, Path: dir, Slave: true}, false, true},
		"None":                     {machine.Volume{Source: dir, Path: dir, Private: true}, false, false},
		"Bidirectional, elsewhere": {machine.Volume{Source: kept, Path: "/elsewhere"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newNamespace(t)
			defer func() { require.NoError(t, m.Close()) }()
			for _, name := range []string{dir + "/own", dir + "/nodes", kept + "/own", kept + "/nodes", machine.KubeletDir + "/hidden"} {
				require.NoError(t, m.MkdirAll(name, 0o755))
			}
			at, source := c.volume.Path, c.volume.Source
			command := shell("cd " + at + " && mount -t tmpfs own own && touch ready; while [ ! -e go ]; do sleep 0.01; done; " +
				"mountpoint -q nodes && echo mounted; ls " + machine.KubeletDir)
			command.Container = &machine.Container{Keeps: []string{kept}, Shares: []string{kept}}
			command.Volumes, command.OwnKubeletDir, command.Dir = []machine.Volume{c.volume}, true, "/"
			command.Stdout = filepath.Join(t.TempDir(), "out.log")
			command.Stderr = command.Stdout
			p, err := m.Start(command)
			require.NoError(t, err)
			isThere := func() bool { _, err := m.Lstat(source + "/ready"); return err == nil }
			require.Eventually(t, isThere, time.Minute, 5*time.Millisecond)
			mounted, err := m.IsMountPoint(source + "/own")
			require.NoError(t, err)
			assert.Equal(t, c.reaches, mounted)
			require.NoError(t, m.Within(func() error { return unix.Mount("nodes", source+"/nodes", "tmpfs", 0, "") }))
			require.NoError(t, m.WriteFile(source+"/go", nil, 0o600))
			<-p.Done()
			out, err := os.ReadFile(p.Stdout)
			require.NoError(t, err)
			assert.Equal(t, c.enters, strings.HasPrefix(string(out), "mounted\n"), string(out))
			assert.NotContains(t, string(out), "hidden")
		})
	}
}

// Given a container that has written nothing, when it is restarted, then it has the machine's own
// root.
func TestAContainerWithoutWritesHasTheMachinesRoot(t *testing.T) {
	needRoot(t)
	m := newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	first, _ := instance(t, m, nil, "echo x >/var/lib/kubelet/x; ls /etc >/dev/null")
	second, _ := instance(t, m, first, "true")
	assert.Empty(t, second.Memory())
}

func BenchmarkContainer(b *testing.B) {
	m, err := machine.NewNamespace("node-a", filepath.Join(b.TempDir(), "n"), false)
	require.NoError(b, err)
	defer m.Close()
	for name, script := range map[string]string{"clean": "exit", "dirty": "echo x >/csisim-test"} {
		b.Run(name, func(b *testing.B) {
			var before *machine.Process
			for b.Loop() {
				c := shell(script)
				c.Container = &machine.Container{Before: before}
				before, err = m.Start(c)
				require.NoError(b, err)
				<-before.Done()
			}
		})
	}
}
