package workdir_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Given an attached loop device with a removed file, when the run is killed, then Clean detaches
// it.
func TestCleanDetachesLoopDevicesWithARemovedFile(t *testing.T) {
	needRoot(t)
	for name, attach := range map[string]func(t *testing.T, dir string) (device string){
		"removed": func(t *testing.T, dir string) string {
			device := attachLoop(t, dir+"/image")
			require.NoError(t, os.Remove(dir+"/image"))
			return device
		},
		"removed, and opened in a mount namespace that has ended": func(t *testing.T, dir string) string {
			return inNamespace(t, fmt.Sprintf(`mount --bind %s /mnt; cd /mnt/%s; truncate -s 1M image; losetup --find --show $PWD/image; rm image`,
				filepath.Dir(dir), filepath.Base(dir)))
		},
		"removed, after it was seen in a place of the driver's own": func(t *testing.T, dir string) string {
			device := inNamespace(t, fmt.Sprintf(`mount --bind %s /mnt; truncate -s 1M /mnt/image; losetup --find --show /mnt/image`, dir))
			seen, err := workdir.NewLoops(dir).InUse()
			require.NoError(t, err)
			require.Equal(t, []workdir.Loop{{Device: device, File: "image"}}, seen)
			require.NoError(t, os.Remove(dir+"/image"))
			return device
		},
		"in the memory of a node that has ended": func(t *testing.T, dir string) string {
			out := strings.Fields(inNamespace(t, `mount -t tmpfs mine /mnt; stat -c %d /mnt; truncate -s 1M /mnt/image; losetup --find --show /mnt/image`))
			var device uint64
			_, err := fmt.Sscan(out[0], &device)
			require.NoError(t, err)
			require.NoError(t, workdir.NewLoops(dir).AddMemory(device))
			return out[1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			run, dir, _ := startRun(t, parent)
			kill(t, run)
			device := attach(t, dir)
			report, err := workdir.Clean(parent)
			require.NoError(t, err)
			require.Len(t, report.Runs, 1)
			assert.Equal(t, []string{device}, report.Runs[0].Detached)
			assertDetached(t, device)
		})
	}
}

// The number of a file system in memory is reused after its end.
func TestCleanSparesLoopDevicesInMountedMemory(t *testing.T) {
	needRoot(t)
	parent := t.TempDir()
	run, dir, _ := startRun(t, parent)
	kill(t, run)
	memory := tmpfs(t, "size=4m")
	info, err := os.Stat(memory)
	require.NoError(t, err)
	loops := workdir.NewLoops(dir)
	require.NoError(t, loops.AddMemory(info.Sys().(*syscall.Stat_t).Dev))
	device := attachLoop(t, memory+"/image")
	defer func() { require.NoError(t, detach(device)) }()

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	require.Len(t, report.Runs, 1)
	assert.Empty(t, report.Runs[0].Detached)
	assert.FileExists(t, backing(device))
}

// Given a removed image of a dead run, when a live run has its number and its loop device, then
// Clean does not detach the device.
func TestCleanSparesLoopDevicesOfRunsThatLive(t *testing.T) {
	needRoot(t)
	parent := t.TempDir()
	dead, dir, _ := startRun(t, parent)
	_, alive, _ := startRun(t, parent)
	device := attachLoop(t, dir+"/image")
	_, err := workdir.NewLoops(dir).InUse()
	require.NoError(t, err)
	require.NoError(t, detach(device))
	require.NoError(t, os.Rename(dir+"/image", alive+"/image"))
	require.NoError(t, exec.Command("losetup", device, alive+"/image").Run())
	defer func() { require.NoError(t, detach(device)) }()
	kill(t, dead)

	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	require.Len(t, report.Runs, 1)
	assert.Empty(t, report.Runs[0].Detached)
	assert.FileExists(t, backing(device))
}

// detach detaches a loop device.
func detach(device string) error { return exec.Command("losetup", "--detach", device).Run() }

// inNamespace runs a script in a mount namespace that ends with it.
func inNamespace(t *testing.T, script string) (stdout string) {
	t.Helper()
	out, err := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-ec", script).Output()
	if err != nil {
		t.Skipf("no namespace or no loop device is to be had: %v", err)
	}
	return strings.TrimSpace(string(out))
}
