package workdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Given a killed run in a directory that is kept, when the next run takes the directory, then the
// programs of the killed run end, and its files stay. Clean does not touch them.
func TestAKeptDirectoryOutlivesItsRuns(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "kept")
	run, dir, program := startRun(t, parent)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	_, err := workdir.Keep(dir)
	require.ErrorIs(t, err, workdir.ErrInUse)
	kill(t, run)

	_, err = workdir.Clean(filepath.Dir(dir))
	require.NoError(t, err)
	next, err := workdir.Keep(dir)
	require.NoError(t, err)
	assert.Equal(t, dir, next.Path())
	assertEnded(t, program)
	require.NoError(t, next.Close())
	assert.FileExists(t, filepath.Join(dir, "data"))
	again, err := workdir.Keep(dir)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestADirectoryWithTheNameOfARunIsNotKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "csisim-12-3")
	_, err := workdir.Keep(dir)
	require.ErrorContains(t, err, "csisim clean removes directories with names such as csisim-12-3: choose another name")
	assert.NoDirExists(t, dir)
}
