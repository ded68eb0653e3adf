package workdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Given a killed run with a loop device, when its directory is removed without Clean, then the next
// Clean of any directory detaches the device, and deletes the record of the run.
func TestCleanDetachesTheLoopDevicesOfDirectoriesThatAreGone(t *testing.T) {
	needRoot(t)
	parent := t.TempDir()
	run, dir, program := startRun(t, parent)
	// The kernel's path of the image does not name the run.
	device := inNamespace(t, `mount --bind `+dir+` /mnt; truncate -s 1M /mnt/image; losetup --find --show /mnt/image`)
	_, err := workdir.NewLoops(dir).InUse()
	require.NoError(t, err)
	kill(t, run)
	require.NoError(t, os.RemoveAll(dir))

	report, err := workdir.Clean(t.TempDir())
	require.NoError(t, err)
	assert.Contains(t, report.Runs, workdir.Leftover{Dir: dir, Detached: []string{device}, Before: true})
	assertDetached(t, device)
	records, _ := filepath.Glob("/run/csisim/*") // those of other runs
	for _, record := range records {
		text, _ := os.ReadFile(record) // the run may end now
		assert.NotContains(t, string(text), dir)
	}
	require.NoError(t, unix.Kill(program, unix.SIGKILL), "only its directory shows it")
	assertEnded(t, program)
}

// Given a killed run with a loop device, when its directory still exists, then only a Clean of that
// directory detaches the device.
func TestCleanLeavesTheLoopDevicesOfOtherDirectories(t *testing.T) {
	needRoot(t)
	parent := t.TempDir()
	run, dir, _ := startRun(t, parent)
	device := attachLoop(t, dir+"/image")
	_, err := workdir.NewLoops(dir).InUse()
	require.NoError(t, err)
	kill(t, run)

	_, err = workdir.Clean(t.TempDir())
	require.NoError(t, err)
	assert.FileExists(t, backing(device))
	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	require.Len(t, report.Runs, 1)
	assert.Equal(t, []string{device}, report.Runs[0].Detached)
}
