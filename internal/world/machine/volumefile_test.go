package machine_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// If the path in a volume is not a regular file, csisim neither follows it, nor waits for it, nor
// changes it.
func TestAVolumesFileIsOpenedWithCare(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		d := m.(*machine.Disk)
		const dir = machine.KubeletDir + "/volume"
		mkdirs(t, m, dir)
		outside := filepath.Join(t.TempDir(), "outside")
		require.NoError(t, os.WriteFile(outside, []byte("of the host"), 0o600))
		at := d.Path(dir)
		require.NoError(t, os.Symlink(outside, at+"/link"))
		require.NoError(t, os.Symlink(outside+"-missing", at+"/dangling"))
		require.NoError(t, syscall.Mkfifo(at+"/fifo", 0o600))
		require.NoError(t, os.Mkdir(at+"/dir", 0o755))
		for name, kind := range map[string]string{"link": "a symbolic link", "dangling": "a symbolic link", "fifo": "a FIFO", "dir": "a directory"} {
			_, err := d.ReadVolumeFile(dir, name)
			assert.ErrorContains(t, err, name+" is "+kind+", not a regular file")
			err = d.WriteVolumeFile(dir, name, []byte("x"), 0o600)
			assert.ErrorContains(t, err, name+" is "+kind+", not a regular file")
		}
		text, err := os.ReadFile(outside)
		require.NoError(t, err)
		assert.Equal(t, "of the host", string(text))
		assert.NoFileExists(t, outside+"-missing")

		require.NoError(t, d.WriteVolumeFile(dir, "file", []byte("longer"), 0o600))
		require.NoError(t, d.WriteVolumeFile(dir, "file", []byte("x"), 0o600))
		data, err := d.ReadVolumeFile(dir, "file")
		require.NoError(t, err)
		assert.Equal(t, "x", string(data))
		_, err = d.ReadVolumeFile(dir, "missing")
		assert.ErrorIs(t, err, os.ErrNotExist)

		_, err = d.ReadStart(dir+"/fifo", 1)
		assert.ErrorContains(t, err, "a FIFO in the place of a block device")
	})
}
