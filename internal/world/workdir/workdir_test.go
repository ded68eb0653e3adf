package workdir_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/workdir"
)

func TestNewMakesAShortPrivateDirectory(t *testing.T) {
	parent := t.TempDir()
	first, err := workdir.New(parent)
	require.NoError(t, err)
	second, err := workdir.New(parent)
	require.NoError(t, err)

	assert.NotEqual(t, first.Path(), second.Path())
	assert.True(t, strings.HasPrefix(first.Path(), fmt.Sprintf("%s/csisim-%d-", parent, namespaces.PID())), first.Path())
	info, err := os.Stat(first.Path())
	require.NoError(t, err)
	assert.Equal(t, fs.ModeDir|0o700, info.Mode())

	require.NoError(t, os.MkdirAll(first.Path()+"/n1/kubelet", 0o755))
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
	assertEmpty(t, parent)
}

func TestTheErrorOfNewDescribesTheParent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cases := []struct {
		name   string
		parent func(t *testing.T) string
		cause  error
		advice string
	}{
		{"missing", func(t *testing.T) string { return filepath.Join(t.TempDir(), "no") }, fs.ErrNotExist, "it does not exist; create it or choose another"},
		{"a file", func(*testing.T) string { return file }, syscall.ENOTDIR, "it is not a directory; choose another"},
		{"read-only", func(t *testing.T) string { return tmpfs(t, "ro") }, syscall.EROFS, "it is read-only; choose another"},
		{"full", func(t *testing.T) string { return tmpfs(t, "nr_inodes=1") }, syscall.ENOSPC, "its disk is full; free some space or choose another"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			parent := c.parent(t)
			_, err := workdir.New(parent)
			var failed *workdir.CreateError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, parent, failed.Parent)
			assert.ErrorIs(t, err, c.cause)
			assert.ErrorContains(t, err, "no work directory can be made in "+parent+": "+c.advice)
		})
	}
}

func TestNewLeavesNothingWhenTheDiskFillsUp(t *testing.T) {
	parent := tmpfs(t, "nr_inodes=2") // room for the directory, not for its lock
	_, err := workdir.New(parent)
	require.ErrorIs(t, err, syscall.ENOSPC)
	assertEmpty(t, parent)
}

func TestRemoveTreeNeverEntersAMount(t *testing.T) {
	dir := t.TempDir()
	volume := filepath.Join(t.TempDir(), "volume")
	require.NoError(t, os.MkdirAll(volume, 0o755))
	require.NoError(t, os.WriteFile(volume+"/data", nil, 0o600))
	target := dir + "/pods/p/mount"
	require.NoError(t, os.MkdirAll(target, 0o755))
	require.NoError(t, os.MkdirAll(dir+"/other/dir", 0o755))
	bind(t, volume, target)

	require.ErrorIs(t, workdir.RemoveTree(dir+"/pods"), syscall.EBUSY)
	require.ErrorIs(t, workdir.RemoveTree(target), syscall.EBUSY)
	assert.FileExists(t, volume+"/data")
	require.NoError(t, workdir.RemoveTree(dir+"/other"))
	assert.NoDirExists(t, dir+"/other")
	require.NoError(t, unix.Unmount(target, 0))
	require.NoError(t, workdir.RemoveTree(dir+"/pods"))
	assert.NoError(t, workdir.RemoveTree(dir+"/missing/path"))
}

func assertEmpty(t *testing.T, dir string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func needRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts need root")
	}
}
