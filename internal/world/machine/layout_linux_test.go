package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a symlink to the kubelet's directory, when something is mounted below it, then the mount
// table of programs has the path without the symlink, and the machine uses the kubelet's own path.
func TestMountTablesOfProgramsHaveNoSymlinks(t *testing.T) {
	m := newLaidOut(t, moved)
	const source, target = machine.KubeletDir + "/a", machine.KubeletDir + "/b"
	mkdirs(t, m, source, target)
	require.NoError(t, m.BindMount(source, target, false))
	assert.Equal(t, "/mnt/kubelet/b\n", run(t, m, shell("grep -o '/mnt/kubelet/b' /proc/self/mountinfo; grep -o ' "+target+" ' /proc/self/mountinfo; true")))
	mounts, err := m.Mounts()
	require.NoError(t, err)
	require.Len(t, mounts, 1)
	assert.Equal(t, target, mounts[0].Target)
	assert.Equal(t, source, mounts[0].Root)
	resolved, err := m.EvalSymlinks(source)
	require.NoError(t, err)
	assert.Equal(t, source, resolved)
	written, err := m.Written()
	require.NoError(t, err)
	assert.Empty(t, written)
}

// Given a symlink, when a container mounts the kubelet's directory at the symlink's path, then it
// has only a directory at this path, because the runtime resolves only the source of a mount.
func TestAContainerHasNoSymlink(t *testing.T) {
	for name, l := range map[string]machine.Layout{"to": moved, "from": {Dir: "/mnt/kubelet", SymlinkFrom: machine.KubeletDir}} {
		t.Run(name, func(t *testing.T) {
			m := newLaidOut(t, l)
			mkdirs(t, m, machine.KubeletDir+"/pods/p")
			c := shell("ls -d /var/lib/kubelet/pods/* /mnt/kubelet/pods/* 2>/dev/null; test -L /var/lib/kubelet && echo symlink; true")
			c.OwnKubeletDir = true
			c.Volumes = []machine.Volume{{Source: machine.KubeletDir, Path: machine.KubeletDir}}
			assert.Equal(t, "/var/lib/kubelet/pods/p\n", run(t, m, c))
			assert.Equal(t, "symlink\n", run(t, m, shell("test -L /var/lib/kubelet && echo symlink")), "the node keeps it")
		})
	}
}

// Without a symlink, the usual path does not exist.
func TestAKubeletsDirectoryElsewhere(t *testing.T) {
	const dir = "/var/lib/k0s/kubelet"
	m := newLaidOut(t, machine.Layout{Dir: dir})
	mkdirs(t, m, dir+"/plugins_registry")
	assert.Equal(t, "/registration/\nplugins_registry\n", run(t, m, shell("ls -d /registration/; ls "+dir+"; ls /var/lib/kubelet 2>/dev/null; true")))
	written, err := m.Written()
	require.NoError(t, err)
	assert.Empty(t, written, "the directories above it are the machine's own")
}

func TestMistakesOfALayout(t *testing.T) {
	for _, c := range []struct {
		layout      machine.Layout
		found, want string
	}{
		{machine.Layout{}, "", ""},
		{machine.Layout{Dir: "/var/lib/kubelet"}, "", ""},
		{machine.Layout{Dir: "/var/snap/microk8s/common/var/lib/kubelet"}, "", ""},
		{moved, "", ""},
		{machine.Layout{Dir: "/mnt/kubelet", SymlinkFrom: "/var/lib/kubelet"}, "", ""},
		{machine.Layout{Dir: "kubelet"}, `path "kubelet"`, "an absolute path"},
		{machine.Layout{Dir: "/mnt/../kubelet"}, `path "/mnt/../kubelet"`, "an absolute path"},
		{machine.Layout{Dir: "/mnt/kubelet/"}, `path "/mnt/kubelet/"`, "without a slash at the end"},
		{machine.Layout{Dir: "/"}, `path "/"`, "nor contains it"},
		{machine.Layout{Dir: "/var/lib"}, `path "/var/lib"`, "/var/lib/kubelet"},
		{machine.Layout{Dir: "/var/lib/kubelet/root"}, `path "/var/lib/kubelet/root"`, "/var/lib/kubelet"},
		{machine.Layout{Dir: "/proc/kubelet"}, `path "/proc/kubelet"`, "/proc"},
		{machine.Layout{Dir: "/csi"}, `path "/csi"`, "/csi"},
		{machine.Layout{Dir: "/var/lib/csi-data"}, `path "/var/lib/csi-data"`, "/var/lib/csi-*"},
		{machine.Layout{SymlinkTo: "/run"}, `path "/run"`, "/run/csi"},
		{machine.Layout{Dir: "/a", SymlinkTo: "/a/b"}, `path "/a" beside "/a/b"`, "neither within the other"},
		{machine.Layout{Dir: "/a", SymlinkTo: "/b", SymlinkFrom: "/c"}, "symlinks both ways", "to the kubelet's directory or from it"},
	} {
		found, want := c.layout.Mistake()
		assert.Equal(t, c.found, found)
		assert.True(t, strings.Contains(want, c.want), "%q has %q", want, c.want)
	}
}
