package machine_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

func TestTheStartOfADeviceIsReadAndWritten(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		d := m.(machine.Devices)
		_, err := d.ReadStart("/image", 4)
		assert.True(t, errors.Is(err, fs.ErrNotExist), "%v", err)
		require.Error(t, d.WriteStart("/image", []byte("x")), "it makes no file")
		require.NoError(t, m.WriteFile("/image", []byte("0123456789"), 0o644))
		require.NoError(t, d.WriteStart("/image", []byte("ab")))
		for n, want := range map[int]string{0: "", 4: "ab23", 10: "ab23456789", 99: "ab23456789"} {
			data, err := d.ReadStart("/image", n)
			require.NoError(t, err)
			assert.Equal(t, want, string(data))
		}
		require.NoError(t, d.WriteStart("/image", []byte(strings.Repeat("c", 12))))
		data, err := m.ReadFile("/image")
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat("c", 12), string(data))
	})
}

// A file that replaces a device has a size that differs from the file's length.
func TestTheSizeOfABlockDeviceIsKnown(t *testing.T) {
	d, err := machine.NewDisk("node-a", t.TempDir())
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.WriteFile("/image", make([]byte, 4096), 0o644))
	_, err = d.DeviceBytes("/image")
	assert.ErrorContains(t, err, "a file in the place of a block device")
	_, err = d.DeviceBytes("/none")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// A device that is kept open is busy until LetGo or a power-off. K-BLK-6
func TestADeviceThatIsKeptOpenIsBusy(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		d := m.(machine.Devices)
		require.ErrorIs(t, d.KeepOpen("/mapped"), fs.ErrNotExist)
		require.NoError(t, d.LetGo("/mapped"), "nothing is open")
		for _, name := range []string{"/device", "/mapped"} {
			require.NoError(t, m.WriteFile(name, nil, 0o644))
		}
		if err := m.BindMount("/device", "/mapped", false); errors.Is(err, fs.ErrPermission) {
			t.Skip(err)
		}
		require.NoError(t, d.KeepOpen("/mapped"))
		require.NoError(t, d.KeepOpen("/mapped"))
		require.ErrorIs(t, m.Unmount("/mapped"), syscall.EBUSY)
		require.NoError(t, d.LetGo("/mapped"))
		require.NoError(t, m.Unmount("/mapped"))

		require.NoError(t, m.BindMount("/device", "/mapped", false))
		require.NoError(t, d.KeepOpen("/mapped"))
		require.NoError(t, m.PowerOff())
		mounts, err := m.Mounts()
		require.NoError(t, err)
		assert.Empty(t, mounts)
	})
}

func TestAFileThatIsNoDeviceIsNotHeld(t *testing.T) { // K-UNSTAGE-4
	onEach(t, func(t *testing.T, m machine.Machine) {
		d := m.(machine.Devices)
		require.NoError(t, m.WriteFile("/file", nil, 0o644))
		for _, name := range []string{"/file", "/missing", "/dev/null", "csi-401f24c7f47b695be6c08c4488a55483b4529d10819e485e4091058ea0378a9d"} {
			held, err := d.IsHeld(name)
			assert.NoError(t, err, name)
			assert.False(t, held, name)
		}
	})
}

// A block device of the host that is opened exclusively is held. K-UNSTAGE-4
func TestABlockDeviceThatIsHeld(t *testing.T) {
	image := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(image, make([]byte, 1<<20), 0o600))
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skipf("no loop device: %v", err)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() { assert.NoError(t, exec.Command("losetup", "--detach", device).Run()) })
	m, err := machine.NewDisk("node-a", t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })

	held := func() bool {
		held, err := m.IsHeld(device)
		require.NoError(t, err)
		return held
	}
	assert.False(t, held())
	f, err := os.OpenFile(device, os.O_RDONLY|syscall.O_EXCL, 0)
	require.NoError(t, err)
	assert.True(t, held())
	require.NoError(t, f.Close())
	assert.False(t, held())
}
