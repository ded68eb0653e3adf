package machine_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

const volumeDir = "/var/lib/kubelet/volume"

// owner returns the group and the mode of a path.
func owner(t *testing.T, m machine.Machine, path string) (gid uint32, mode fs.FileMode) {
	t.Helper()
	info, err := m.Lstat(path)
	require.NoError(t, err)
	return info.Sys().(*syscall.Stat_t).Gid, info.Mode()
}

func TestOwnersAndModes(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		needMounts(t, m) // only root may change owners
		mkdirs(t, m, volumeDir)
		require.NoError(t, m.WriteFile(volumeDir+"/file", nil, 0o640))
		require.NoError(t, m.Symlink(volumeDir+"/file", volumeDir+"/link"))

		require.NoError(t, m.Lchown(volumeDir+"/link", -1, 4242))
		gid, _ := owner(t, m, volumeDir+"/link")
		assert.EqualValues(t, 4242, gid)
		gid, mode := owner(t, m, volumeDir+"/file")
		assert.Zero(t, gid, "a symlink is not followed")
		assert.Equal(t, fs.FileMode(0o640), mode)

		require.NoError(t, m.Chmod(volumeDir+"/link", 0o660))
		_, mode = owner(t, m, volumeDir+"/file")
		assert.Equal(t, fs.FileMode(0o660), mode, "a symlink is followed")

		assert.ErrorIs(t, m.Chmod(volumeDir+"/no", 0), fs.ErrNotExist)
		assert.ErrorIs(t, m.Lchown(volumeDir+"/no", 0, 0), fs.ErrNotExist)
	})
}

func TestANewFileInASetgidDirectoryHasItsGroup(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		needMounts(t, m)
		mkdirs(t, m, volumeDir)
		require.NoError(t, m.Lchown(volumeDir, -1, 4242))
		require.NoError(t, m.Chmod(volumeDir, fs.ModeSetgid|0o770))
		mkdirs(t, m, volumeDir+"/dir")
		require.NoError(t, m.WriteFile(volumeDir+"/dir/file", nil, 0o640))
		gid, mode := owner(t, m, volumeDir+"/dir")
		assert.EqualValues(t, 4242, gid)
		assert.NotZero(t, mode&fs.ModeSetgid)
		gid, _ = owner(t, m, volumeDir+"/dir/file")
		assert.EqualValues(t, 4242, gid)
	})
}

func TestAProgramGivenAwayLosesItsSetuidBits(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		needMounts(t, m)
		mkdirs(t, m, volumeDir)
		require.NoError(t, m.WriteFile(volumeDir+"/program", nil, 0o755))
		require.NoError(t, m.Chmod(volumeDir+"/program", fs.ModeSetuid|fs.ModeSetgid|0o755))
		require.NoError(t, m.Lchown(volumeDir+"/program", -1, 4242))
		_, mode := owner(t, m, volumeDir+"/program")
		assert.Equal(t, fs.FileMode(0o755), mode)
	})
}

func TestOwnersOfAReadOnlyMountStay(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		needMounts(t, m)
		mkdirs(t, m, volumeDir, "/var/lib/kubelet/target")
		require.NoError(t, m.BindMount(volumeDir, "/var/lib/kubelet/target", true))
		assert.ErrorIs(t, m.Lchown("/var/lib/kubelet/target", -1, 1), syscall.EROFS)
		assert.ErrorIs(t, m.Chmod("/var/lib/kubelet/target", 0o700), syscall.EROFS)
	})
}
