package library_test

import (
	"context"
	"flag"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// seeds is the number of seeds for each scenario of the library. `make nightly` uses 200.
var seeds = flag.Uint64("seeds", 2, "run the scenario library with the seeds 1 to N")

// Scenarios expect only guarantees of Kubernetes. Therefore they pass in every order of events.
func TestEveryScenarioPassesUnderEverySeed(t *testing.T) {
	for _, file := range library(t) {
		t.Run(strings.TrimSuffix(filepath.ToSlash(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			s, err := scenario.Load(file)
			require.NoError(t, err)
			for seed := uint64(1); seed <= *seeds; seed++ {
				result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Seed: seed})
				require.NoError(t, err, "seed %d", seed)
				for _, f := range result.Failures {
					t.Errorf("seed %d: %s", seed, f.Text(result.Names))
				}
			}
		})
	}
}

// library returns all scenarios with mock drivers, except the large ones, which take minutes.
func library(t *testing.T) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"large", "programs", "manifests"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".yaml":
			return nil
		}
		files = append(files, path)
		return nil
	}))
	require.NotEmpty(t, files)
	return files
}
