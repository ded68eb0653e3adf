package workdir_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/workdir"
)

func TestLoopDevicesOfARunAreKnownAlsoWhenTheirFileIsGone(t *testing.T) {
	needRoot(t)
	dir, elsewhere := t.TempDir(), t.TempDir()
	ours, others := attachLoop(t, dir+"/image"), attachLoop(t, elsewhere+"/image")
	foreign := workdir.NewLoops(elsewhere)
	defer func() {
		_, err := foreign.InUse()
		require.NoError(t, err)
		require.NoError(t, foreign.Detach())
		assert.NoFileExists(t, backing(others))
	}()
	loops := workdir.NewLoops(dir)
	for range 2 {
		found, err := loops.InUse()
		require.NoError(t, err)
		assert.Equal(t, []workdir.Loop{{Device: ours, File: "image"}}, found)
		_ = os.Remove(dir + "/image")
	}
	require.NoError(t, loops.Detach())
	assert.NoFileExists(t, backing(ours))
	assert.FileExists(t, backing(others), "somebody else's")
}

// Who puts an image into a node's memory has it on no disk.
func TestLoopDevicesInANodesMemoryAreTheRuns(t *testing.T) {
	needRoot(t)
	memory := tmpfs(t, "size=4m")
	device := attachLoop(t, memory+"/image")
	info, err := os.Stat(memory)
	require.NoError(t, err)
	loops := workdir.NewLoops(t.TempDir())
	require.NoError(t, loops.AddMemory(info.Sys().(*syscall.Stat_t).Dev))
	for range 2 {
		found, err := loops.InUse()
		require.NoError(t, err)
		assert.Equal(t, []workdir.Loop{{Device: device, File: memory + "/image"}}, found)
	}
	require.NoError(t, loops.Detach())
	assert.NoFileExists(t, backing(device))
}

// The number of a file that is removed is given to another one, the loop device, too.
func TestALoopDeviceThatNowShowsSomebodyElsesFileIsNotTheRuns(t *testing.T) {
	needRoot(t)
	dir, elsewhere := t.TempDir(), t.TempDir()
	device := attachLoop(t, dir+"/image")
	loops := workdir.NewLoops(dir)
	found, err := loops.InUse()
	require.NoError(t, err)
	require.Equal(t, []workdir.Loop{{Device: device, File: "image"}}, found)

	require.NoError(t, exec.Command("losetup", "--detach", device).Run())
	require.NoError(t, os.Remove(dir+"/image"))
	require.NoError(t, os.WriteFile(elsewhere+"/image", make([]byte, 1<<20), 0o600))
	require.NoError(t, exec.Command("losetup", device, elsewhere+"/image").Run())
	defer func() { require.NoError(t, exec.Command("losetup", "--detach", device).Run()) }()
	found, err = loops.InUse()
	require.NoError(t, err)
	assert.Empty(t, found)
	require.NoError(t, loops.Detach())
	assert.FileExists(t, backing(device))
}

func backing(device string) string {
	return strings.Replace(device, "/dev", "/sys/block", 1) + "/loop/backing_file"
}
