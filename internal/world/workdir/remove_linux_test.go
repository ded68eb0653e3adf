package workdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/workdir"
)

// A driver deletes its volumes while the run's directory goes.
func TestATreeThatTwoRemoveAtOnceIsGoneAndNoError(t *testing.T) {
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
