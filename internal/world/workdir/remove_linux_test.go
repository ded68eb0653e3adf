package workdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/workdir"
)

// A driver deletes its volumes while the run's directory is removed.
func TestTwoMayRemoveATreeAtOnce(t *testing.T) {
	for range 5 {
		tree := filepath.Join(t.TempDir(), "tree")
		for i := range 200 {
			require.NoError(t, os.MkdirAll(filepath.Join(tree, fmt.Sprint(i), "data", "dir"), 0o755))
		}
		var both sync.WaitGroup
		var failed [2]error
		for i := range failed {
			both.Go(func() { failed[i] = workdir.RemoveTree(tree) })
		}
		both.Wait()
		assert.Equal(t, [2]error{}, failed)
		assert.NoDirExists(t, tree)
	}
}

// Given a clean-up that creates a file in the tree during its removal, then the whole tree is
// removed.
func TestATreeIsRemovedWhileOthersWriteIntoIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.Mkdir(dir, 0o700))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Microsecond):
				_ = os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600) // it may be missing
			}
		}
	}()
	for range 50 {
		require.NoError(t, workdir.RemoveTree(dir))
		require.NoError(t, os.Mkdir(dir, 0o700))
		for i := range 20 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600))
		}
	}
	close(stop)
	<-stopped
}
