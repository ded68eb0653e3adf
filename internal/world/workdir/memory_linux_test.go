package workdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/workdir"
)

// Given a process in its own mount namespace, when it keeps its runs in memory, then their
// directories are in a size-limited file system in memory, and Close removes it with all their
// leftovers.
func TestRunsAreKeptInMemory(t *testing.T) {
	if !namespaces.Entered() {
		t.Skip("it takes namespaces")
	}
	parent := t.TempDir()
	memory, err := workdir.NewMemory(parent)
	require.NoError(t, err)
	run, err := workdir.New(memory.Path())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(run.Path()+"/image", []byte("data"), 0o600))

	var mounted unix.Statfs_t
	require.NoError(t, unix.Statfs(run.Path(), &mounted))
	assert.EqualValues(t, unix.TMPFS_MAGIC, mounted.Type)
	assert.Equal(t, mounted.Blocks*uint64(mounted.Bsize), memory.Size())
	var machine unix.Sysinfo_t
	require.NoError(t, unix.Sysinfo(&machine))
	assert.Less(t, memory.Size(), machine.Totalram/9)

	require.NoError(t, memory.Close())
	assertEmpty(t, parent)
}

// Given a loop device of a killed run with files in memory, then Clean detaches it. A loop device
// of another process stays, even if its file system has the reused number.
func TestCleanDetachesLoopDevicesOfRunsInMemory(t *testing.T) {
	needRoot(t)
	for name, detached := range map[string]bool{"%[1]s/csisim-%[2]d-7": true, "%[1]s/csisim-1%[2]d-7": false} {
		parent := t.TempDir()
		search, dir, _ := startRun(t, parent)
		kill(t, search)
		run := fmt.Sprintf(name, "/mnt", search.Process.Pid)
		out := strings.Fields(inNamespace(t, fmt.Sprintf(`mount -t tmpfs mine /mnt; stat -c %%d /mnt; mkdir %[1]s; truncate -s 1M %[1]s/image; losetup --find --show %[1]s/image`, run)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".loops"), []byte("runs "+out[0]+"\n"), 0o600))

		report, err := workdir.Clean(parent)
		require.NoError(t, err)
		require.Len(t, report.Runs, 1)
		if detached {
			assert.Equal(t, []string{out[1]}, report.Runs[0].Detached)
			continue
		}
		assert.Empty(t, report.Runs[0].Detached)
		require.NoError(t, detach(out[1]))
	}
}
