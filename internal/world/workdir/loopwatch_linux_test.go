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
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

func TestLoopDevicesOfARunAreKnownAfterTheirFileIsRemoved(t *testing.T) {
	needRoot(t)
	dir, elsewhere := t.TempDir(), t.TempDir()
	ours, others := attachLoop(t, dir+"/image"), attachLoop(t, elsewhere+"/image")
	foreign := workdir.NewLoops(elsewhere)
	defer func() {
		_, err := foreign.InUse()
		require.NoError(t, err)
		require.NoError(t, foreign.Detach())
		assertDetached(t, others)
	}()
	loops := workdir.NewLoops(dir)
	for range 2 {
		found, err := loops.InUse()
		require.NoError(t, err)
		assert.Equal(t, []workdir.Loop{{Device: ours, File: "image"}}, found)
		_ = os.Remove(dir + "/image")
	}
	require.NoError(t, loops.Detach())
	assertDetached(t, ours)
	assert.FileExists(t, backing(others), "somebody else's")
}

// A live cluster attaches many images one after the other. Images that were detached are not kept
// open.
func TestTheImagesOfDetachedLoopDevicesAreNotKeptOpen(t *testing.T) {
	dir := t.TempDir()
	loops := workdir.NewLoops(dir)
	open := func() (images int) {
		files, err := filepath.Glob("/proc/self/fd/*")
		require.NoError(t, err)
		for _, file := range files {
			to, _ := os.Readlink(file) // Glob's own is closed
			if strings.HasPrefix(to, dir+"/image") {
				images++
			}
		}
		return images
	}
	for i := range 3 {
		image := fmt.Sprintf("%s/image-%d", dir, i)
		device := attachLoop(t, image)
		_, err := loops.InUse()
		require.NoError(t, err)
		assert.Equal(t, 1, open(), "the attached one is")
		require.NoError(t, detach(device))
		assertDetached(t, device)
		require.NoError(t, os.Remove(image))
		_, err = loops.InUse()
		require.NoError(t, err)
		assert.Zero(t, open())
	}
}

// A program of the run attaches a file outside the run's directory.
func TestALoopDeviceThatAProgramAttachesIsTheRuns(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	device := attachLoop(t, elsewhere+"/image")
	var stat syscall.Stat_t
	require.NoError(t, syscall.Stat(elsewhere+"/image", &stat))
	dead, dir, _ := startRun(t, parent)
	loops := workdir.NewLoops(dir)
	found, err := loops.InUse()
	require.NoError(t, err)
	assert.Empty(t, found, "it was there before")
	loops.Attached(device, stat.Dev, stat.Ino)
	found, err = loops.InUse()
	require.NoError(t, err)
	assert.Equal(t, []workdir.Loop{{Device: device, File: elsewhere + "/image"}}, found)
	kill(t, dead)
	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	assert.Contains(t, report.String(), "detached "+device)
	assertDetached(t, device)
}

// The directory of a run was removed, and a loop device still has an image of it.
func TestCleanDetachesTheDeletedImagesOfRunsThatAreGone(t *testing.T) {
	parent := t.TempDir()
	dir := parent + "/csisim-4000000-1"
	require.NoError(t, os.Mkdir(dir, 0o700))
	ours, others := attachLoop(t, dir+"/image"), attachLoop(t, parent+"/image")
	defer func() { require.NoError(t, detach(others)) }()
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Remove(parent+"/image"))
	report, err := workdir.Clean(parent)
	require.NoError(t, err)
	assert.Equal(t, "detached "+ours+"\n", report.String())
	assertDetached(t, ours)
	assert.FileExists(t, backing(others), "it is no run's")
}

// An image in a node's memory is not on a disk, but belongs to the run nevertheless.
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
	assertDetached(t, device)
}

// Given a node's memory that ends, when its number is reused for another file system, then neither
// the run nor the removal of its directory mistakes the other file system for the run's.
func TestALoopDeviceInReusedMemoryIsSpared(t *testing.T) {
	needRoot(t)
	memory := tmpfs(t, "size=4m")
	info, err := os.Stat(memory)
	require.NoError(t, err)
	number := info.Sys().(*syscall.Stat_t).Dev
	dir, err := workdir.New(t.TempDir())
	require.NoError(t, err)
	loops := workdir.NewLoops(dir.Path())
	require.NoError(t, loops.AddMemory(number))
	ours := attachLoop(t, memory+"/image")
	require.NoError(t, loops.RemoveMemory(number))
	assertDetached(t, ours)

	others := attachLoop(t, memory+"/image")
	defer func() { require.NoError(t, detach(others)) }()
	found, err := loops.InUse()
	require.NoError(t, err)
	assert.Empty(t, found)
	require.NoError(t, loops.Detach())
	hide(t, memory)
	require.NoError(t, dir.Close())
	assert.FileExists(t, backing(others))
}

// hide unmounts a file system until the end of the test, while a loop device keeps it in use.
func hide(t *testing.T, mounted string) {
	t.Helper()
	require.NoError(t, unix.Unmount(mounted, unix.MNT_DETACH))
	// The end of the test unmounts it.
	t.Cleanup(func() { require.NoError(t, unix.Mount("tmpfs", mounted, "tmpfs", 0, "size=4k")) })
}

// The number of a removed file is reused, and so is the loop device.
func TestALoopDeviceWithAnotherFileIsNotTheRuns(t *testing.T) {
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
