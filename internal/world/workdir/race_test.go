package workdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A clean-up in a process namespace cannot see whether the process of a directory is running.
func TestARunThatMakesItsDirectoryIsNotCleaned(t *testing.T) {
	parent := t.TempDir()
	for i := range 100 {
		// No process has this number.
		path := filepath.Join(parent, fmt.Sprintf("csisim-%d-%d", 1<<30, i))
		var both sync.WaitGroup
		var dir *Dir
		var failed error
		for range 4 {
			both.Go(func() { _, _ = Clean(parent) })
		}
		both.Go(func() { dir, failed = createAt(path) })
		both.Wait()
		if errors.Is(failed, errNotOurs) {
			continue // another name is used
		}
		require.NoError(t, failed)
		require.FileExists(t, filepath.Join(path, lockName), "run %d", i)
		assert.NoError(t, dir.Close())
		require.NoDirExists(t, path)
	}
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Empty(t, left)
}
