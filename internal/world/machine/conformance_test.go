package machine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

type machineKind struct {
	name string
	make func(t *testing.T) machine.Machine
}

// kinds are the machines. All keep the same contract.
var kinds = []machineKind{
	{"memory", func(*testing.T) machine.Machine { return machine.NewMemory("node-1") }},
	{"disk", func(t *testing.T) machine.Machine { return newDisk(t) }},
	{"namespace", func(t *testing.T) machine.Machine { return newNamespace(t) }},
}

// symlinked are machines with a symlink to the kubelet's directory that callers cannot observe.
var symlinked = []machineKind{
	{"memory with a symlink", func(*testing.T) machine.Machine { return machine.NewMemoryWith("node-1", moved) }},
	{"namespace with a symlink", func(t *testing.T) machine.Machine { return newLaidOut(t, moved) }},
}

// moved is the layout of a node with the kubelet's directory on another disk.
var moved = machine.Layout{SymlinkTo: "/mnt/kubelet"}

func newLaidOut(t *testing.T, l machine.Layout) *machine.Disk {
	needRoot(t)
	d, err := machine.NewNamespaceWith("node-1", filepath.Join(shortDir(t), "n1"), false, l, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// onEach runs a test of the contract on every kind of machine.
func onEach(t *testing.T, test func(t *testing.T, m machine.Machine)) {
	for _, kind := range slices.Concat(kinds, symlinked) {
		t.Run(kind.name, func(t *testing.T) {
			m := kind.make(t)
			t.Cleanup(func() { require.NoError(t, m.Close()) })
			test(t, m)
		})
	}
}

// shortDir returns a directory with a short path, which leaves room for a socket's name.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "m")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func newDisk(t *testing.T) *machine.Disk {
	d, err := machine.NewDisk("node-1", filepath.Join(shortDir(t), "n1"))
	require.NoError(t, err)
	return d
}

func newNamespace(t *testing.T) *machine.Disk {
	needRoot(t)
	d, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), "n1"), false)
	require.NoError(t, err)
	return d
}

func needRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts and mount namespaces need root")
	}
}

// needMounts skips a test if the machine's mounts are real and the user may not mount.
func needMounts(t *testing.T, m machine.Machine) {
	if _, memory := m.(*machine.Memory); !memory {
		needRoot(t)
	}
}

func mkdirs(t *testing.T, m machine.Machine, paths ...string) {
	for _, path := range paths {
		require.NoError(t, m.MkdirAll(path, 0o750))
	}
}

func TestEmptyMachineHasTheKubeletDirectory(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		entries, err := m.ReadDir(machine.KubeletDir)
		require.NoError(t, err)
		assert.Empty(t, entries)
		assert.Equal(t, "node-1", m.Name())
	})
}

func TestErrorsAreThoseOfLinux(t *testing.T) {
	const base = "/var/lib/kubelet/pods"
	cases := []struct {
		name string
		do   func(m machine.Machine) error
		want error
	}{
		{"mkdir of an existing directory", func(m machine.Machine) error { return m.Mkdir(base, 0o750) }, fs.ErrExist},
		{"mkdir without a parent", func(m machine.Machine) error { return m.Mkdir(base+"/no/dir", 0o750) }, fs.ErrNotExist},
		{"mkdir below a file", func(m machine.Machine) error { return m.Mkdir(base+"/file/dir", 0o750) }, syscall.ENOTDIR},
		{"mkdir -p over a file", func(m machine.Machine) error { return m.MkdirAll(base+"/file", 0o750) }, syscall.ENOTDIR},
		{"read of a missing file", func(m machine.Machine) error { _, err := m.ReadFile(base + "/no"); return err }, fs.ErrNotExist},
		{"read of the end of a missing file", func(m machine.Machine) error { _, err := m.ReadEnd(base+"/no", 1); return err }, fs.ErrNotExist},
		{"read of a directory", func(m machine.Machine) error { _, err := m.ReadFile(base); return err }, syscall.EISDIR},
		{"write to a directory", func(m machine.Machine) error { return m.WriteFile(base, nil, 0o600) }, syscall.EISDIR},
		{"write without a parent", func(m machine.Machine) error { return m.WriteFile(base+"/no/f", nil, 0o600) }, fs.ErrNotExist},
		{"list of a file", func(m machine.Machine) error { _, err := m.ReadDir(base + "/file"); return err }, syscall.ENOTDIR},
		{"lstat of a missing file", func(m machine.Machine) error { _, err := m.Lstat(base + "/no"); return err }, fs.ErrNotExist},
		{"remove of a missing file", func(m machine.Machine) error { return m.Remove(base + "/no") }, fs.ErrNotExist},
		{"rmdir of a full directory", func(m machine.Machine) error { return m.Remove(base) }, syscall.ENOTEMPTY},
		{"symlink over a file", func(m machine.Machine) error { return m.Symlink("x", base+"/file") }, fs.ErrExist},
		{"readlink of a file", func(m machine.Machine) error { _, err := m.Readlink(base + "/file"); return err }, syscall.EINVAL},
		{"a missing mount point", func(m machine.Machine) error { _, err := m.IsMountPoint(base + "/no"); return err }, fs.ErrNotExist},
		{"watch of a missing directory", func(m machine.Machine) error { _, err := m.Watch(base+"/no", nil); return err }, fs.ErrNotExist},
	}
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, base)
		require.NoError(t, m.WriteFile(base+"/file", nil, 0o600))
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				err := c.do(m)
				require.ErrorIs(t, err, c.want)
				assert.Contains(t, err.Error(), base, "the error names the node's path")
				assert.Equal(t, strings.Index(err.Error(), base), strings.Index(err.Error(), "/"), "and no other: %v", err)
			})
		}
	})
}

func TestFilesKeepContentAndMode(t *testing.T) {
	const file = "/var/lib/kubelet/plugins/vol_data.json"
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, "/var/lib/kubelet/plugins")
		given := []byte("long content")
		require.NoError(t, m.WriteFile(file, given, 0o600))
		require.NoError(t, m.WriteFile(file, []byte("short"), 0o644))
		given[0] = 'X'

		data, err := m.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "short", string(data))
		for most, want := range map[int64]string{3: "ort", 5: "short", 4096: "short"} {
			end, err := m.ReadEnd(file, most)
			require.NoError(t, err)
			assert.Equal(t, want, string(end))
		}

		info, err := m.Lstat(file)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), "of the first write")
		assert.EqualValues(t, 5, info.Size())
		dir, err := m.Lstat("/var/lib/kubelet/plugins")
		require.NoError(t, err)
		assert.Equal(t, fs.ModeDir|0o750, dir.Mode())
	})
}

func TestReadDirIsSortedAndTyped(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, "/data/b")
		require.NoError(t, m.WriteFile("/data/c", nil, 0o600))
		require.NoError(t, m.Symlink("c", "/data/a"))

		entries, err := m.ReadDir("/data")
		require.NoError(t, err)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name()+" "+e.Type().String())
		}
		assert.Equal(t, []string{"a L---------", "b d---------", "c ----------"}, got)
	})
}

func TestSymlinksLeadToNodePaths(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, "/var/lib/kubelet/plugins/dev", "/var/lib/kubelet/pods")
		require.NoError(t, m.WriteFile("/var/lib/kubelet/plugins/dev/uid", []byte("x"), 0o600))
		require.NoError(t, m.Symlink("/var/lib/kubelet/plugins/dev/uid", "/var/lib/kubelet/pods/absolute"))
		require.NoError(t, m.Symlink("../plugins/dev", "/var/lib/kubelet/pods/relative"))

		for _, path := range []string{"/var/lib/kubelet/pods/absolute", "/var/lib/kubelet/pods/relative/uid"} {
			resolved, err := m.EvalSymlinks(path)
			require.NoError(t, err)
			assert.Equal(t, "/var/lib/kubelet/plugins/dev/uid", resolved)
			data, err := m.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "x", string(data))
		}
		target, err := m.Readlink("/var/lib/kubelet/pods/absolute")
		require.NoError(t, err)
		assert.Equal(t, "/var/lib/kubelet/plugins/dev/uid", target)

		require.NoError(t, m.Remove("/var/lib/kubelet/pods/absolute"))
		_, err = m.Lstat("/var/lib/kubelet/plugins/dev/uid")
		assert.NoError(t, err, "removing a symlink keeps its target")
	})
}

func TestRelinkReplacesASymlink(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, "/data/old", "/data/new")
		for _, dir := range []string{"old", "new", "new"} {
			require.NoError(t, m.Relink(dir, "/data/now"))
			target, err := m.Readlink("/data/now")
			require.NoError(t, err)
			assert.Equal(t, dir, target)
		}
		entries, err := m.ReadDir("/data")
		require.NoError(t, err)
		assert.Len(t, entries, 3)
		assert.ErrorIs(t, m.Relink("old", "/data/new"), fs.ErrExist)
		assert.ErrorIs(t, m.Relink("old", "/missing/now"), fs.ErrNotExist)
	})
}

func TestSymlinkLoopEnds(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, "/data")
		require.NoError(t, m.Symlink("b", "/data/a"))
		require.NoError(t, m.Symlink("a", "/data/b"))
		_, err := m.ReadFile("/data/a")
		assert.ErrorIs(t, err, syscall.ELOOP)
	})
}

func TestRemoveAllTakesTheTree(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		mkdirs(t, m, "/data/a/b", "/data/c", "/kept")
		require.NoError(t, m.WriteFile("/kept/file", nil, 0o600))
		require.NoError(t, m.Symlink("/kept", "/data/link"))

		require.NoError(t, m.RemoveAll("/data"))
		_, err := m.Lstat("/data")
		assert.ErrorIs(t, err, fs.ErrNotExist)
		_, err = m.Lstat("/kept/file")
		assert.NoError(t, err, "symlinks are not followed")
		assert.NoError(t, m.RemoveAll("/data"), "a missing path is no error")
	})
}

func TestPathAndNodePathAreInverse(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		for _, path := range []string{
			"/", "/data", "/var/lib/kubelet", "/var/lib/kubelet/pods/uid", "/var/lib/kubelet-other", "/dev/loop0",
		} {
			assert.Equal(t, path, m.NodePath(m.Path(path)))
		}
		assert.Equal(t, "/dev/loop0", m.Path("/dev/loop0"), "devices are those of the host")
	})
}

func TestCloseTwiceIsNoError(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			m := kind.make(t)
			require.NoError(t, m.Close())
			require.NoError(t, m.Close())
		})
	}
}
