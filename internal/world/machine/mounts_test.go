package machine_test

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

const (
	volume  = "/volumes/v1"
	staging = "/var/lib/kubelet/plugins/kubernetes.io/csi/d/h/globalmount"
	pod     = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount"
)

// staged mounts a volume at its staging path.
func staged(t *testing.T, m machine.Machine) {
	needMounts(t, m)
	mkdirs(t, m, volume, staging, pod)
	require.NoError(t, m.WriteFile(volume+"/data", []byte("x"), 0o600))
	require.NoError(t, m.BindMount(volume, staging, false))
}

func TestBindMountShowsItsSource(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		require.NoError(t, m.WriteFile(staging+"/more", []byte("y"), 0o600))

		data, err := m.ReadFile(volume + "/more")
		require.NoError(t, err)
		assert.Equal(t, "y", string(data))
		isMount, err := m.IsMountPoint(staging)
		require.NoError(t, err)
		assert.True(t, isMount)
		isMount, err = m.IsMountPoint(pod)
		require.NoError(t, err)
		assert.False(t, isMount)

		require.NoError(t, m.Unmount(staging))
		entries, err := m.ReadDir(staging)
		require.NoError(t, err)
		assert.Empty(t, entries)
	})
}

func TestMountsAreSortedAndNameTheirRoot(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		require.NoError(t, m.BindMount(staging, pod, true))

		mounts, err := m.Mounts()
		require.NoError(t, err)
		type line struct {
			Target, Root string
			ReadOnly     bool
		}
		var got []line
		for _, mount := range mounts {
			got = append(got, line{mount.Target, mount.Root, mount.ReadOnly})
			assert.NotEmpty(t, mount.Source)
			assert.NotEmpty(t, mount.FSType)
			assert.NotEmpty(t, mount.Options)
			assert.Regexp(t, `^\d+:\d+$`, mount.Device)
		}
		want := []line{{staging, volume, false}, {pod, volume, true}}
		assert.Empty(t, cmp.Diff(want, got), "a bind of a bind shows the first source")
	})
}

func TestReadOnlyBindRefusesWrites(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		require.NoError(t, m.BindMount(staging, pod, true))

		assert.ErrorIs(t, m.WriteFile(pod+"/data", nil, 0o600), syscall.EROFS)
		assert.ErrorIs(t, m.Mkdir(pod+"/dir", 0o750), syscall.EROFS)
		assert.ErrorIs(t, m.Remove(pod+"/data"), syscall.EROFS)
		assert.NoError(t, m.WriteFile(staging+"/data", nil, 0o600))
	})
}

func TestMountPointsCannotBeRemoved(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		assert.ErrorIs(t, m.Remove(staging), syscall.EBUSY)
		assert.ErrorIs(t, m.RemoveAll(staging), syscall.EBUSY)
	})
}

func TestRemoveAllStopsAtMounts(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		require.NoError(t, m.WriteFile("/var/lib/kubelet/plugins/other", nil, 0o600))

		require.ErrorIs(t, m.RemoveAll("/var/lib/kubelet/plugins"), syscall.EBUSY)
		_, err := m.ReadFile(volume + "/data")
		require.NoError(t, err, "the volume keeps its data")
		_, err = m.Lstat("/var/lib/kubelet/plugins/other")
		assert.Error(t, err, "directories without a mount are removed")
		isMount, err := m.IsMountPoint(staging)
		require.NoError(t, err)
		assert.True(t, isMount)
	})
}

func TestMountsStackAndComeOffInReverse(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		mkdirs(t, m, "/volumes/v2")
		require.NoError(t, m.WriteFile("/volumes/v2/second", nil, 0o600))
		require.NoError(t, m.BindMount("/volumes/v2", staging, false))

		_, err := m.Lstat(staging + "/second")
		require.NoError(t, err)
		mounts, err := m.Mounts()
		require.NoError(t, err)
		require.Len(t, mounts, 2)
		assert.Equal(t, "/volumes/v2", mounts[1].Root, "the covering mount comes last")
		assertMountsAt(t, m, staging, 2)
		assertMountsAt(t, m, staging+"/second", 0)
		assertMountsAt(t, m, staging+"/missing", 0)

		require.NoError(t, m.Unmount(staging))
		_, err = m.Lstat(staging + "/data")
		require.NoError(t, err)
		assertMountsAt(t, m, staging, 1)
		require.NoError(t, m.Unmount(staging))
		assert.ErrorIs(t, m.Unmount(staging), syscall.EINVAL)
	})
}

func assertMountsAt(t *testing.T, m machine.Machine, path string, want int) {
	t.Helper()
	n, err := m.MountsAt(path)
	require.NoError(t, err)
	assert.Equal(t, want, n, path)
}

func TestUnmountWithMountsBelowIsBusy(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		mkdirs(t, m, volume+"/sub", "/volumes/v2")
		require.NoError(t, m.BindMount("/volumes/v2", staging+"/sub", false))

		assert.ErrorIs(t, m.Unmount(staging), syscall.EBUSY)
		isMount, err := m.IsMountPoint(volume + "/sub")
		require.NoError(t, err)
		assert.False(t, isMount, "a private mount is in one place only")
		require.NoError(t, m.Unmount(staging+"/sub"))
		assert.NoError(t, m.Unmount(staging))
	})
}

func TestBindMountOfFilesAndItsErrors(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		require.NoError(t, m.WriteFile("/volumes/block", []byte("device"), 0o600))
		require.NoError(t, m.WriteFile(pod+"/target", nil, 0o600))

		require.NoError(t, m.BindMount("/volumes/block", pod+"/target", false))
		data, err := m.ReadFile(pod + "/target")
		require.NoError(t, err)
		assert.Equal(t, "device", string(data))
		assert.ErrorIs(t, m.Remove(pod+"/target"), syscall.EBUSY)

		assert.ErrorIs(t, m.BindMount("/volumes/block", volume, false), syscall.ENOTDIR)
		assert.ErrorIs(t, m.BindMount("/volumes/no", volume, false), syscall.ENOENT)
		assert.ErrorIs(t, m.BindMount(volume, "/volumes/no", false), syscall.ENOENT)
	})
}

func TestPowerOffDropsMountsAndKeepsFiles(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		require.NoError(t, m.BindMount(staging, pod, true))

		require.NoError(t, m.PowerOff())
		mounts, err := m.Mounts()
		require.NoError(t, err)
		assert.Empty(t, mounts)
		_, err = m.ReadFile(volume + "/data")
		assert.NoError(t, err)
		assert.NoError(t, m.RemoveAll("/var/lib/kubelet/plugins"))
	})
}

func TestReferencesAreTheOtherMountsOfTheSame(t *testing.T) { // K-UNSTAGE-2
	onEach(t, func(t *testing.T, m machine.Machine) {
		staged(t, m)
		mkdirs(t, m, "/volumes/v2", pod+"2")
		require.NoError(t, m.BindMount("/volumes/v2", pod+"2", false))
		others, err := m.References(staging)
		require.NoError(t, err)
		assert.Empty(t, others, "a mount of another directory is none")

		require.NoError(t, m.BindMount(staging, pod, false))
		others, err = m.References(staging)
		require.NoError(t, err)
		assert.Equal(t, []string{pod}, others)

		require.NoError(t, m.Unmount(staging))
		others, err = m.References(staging)
		require.NoError(t, err)
		assert.Empty(t, others, "a directory that is not mounted has none")
	})
}
