package promotion

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/kindcluster"
	"github.com/csisim/csisim/sim"
)

// sharedPrefix begins the names of directories that the nodes of a kind cluster share; the cluster's name follows.
const sharedPrefix = "csisim-kind-"

// sharedDir is the directory of a cluster below the parent of what runs need on disk.
func sharedDir(workDir, cluster string) string {
	return filepath.Join(cmp.Or(workDir, os.TempDir()), sharedPrefix+cmp.Or(cluster, kindcluster.DefaultName))
}

// CleanShared removes the directories of kind clusters that are gone. Where there is no directory no engine is asked;
// where no engine answers nothing is removed: who knows which clusters there are.
func CleanShared(workDir string) (removed []string, err error) {
	found, err := filepath.Glob(sharedDir(workDir, "*"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	there, err := kindcluster.Names()
	if err != nil {
		return nil, nil
	}
	for _, dir := range found {
		if there[strings.TrimPrefix(filepath.Base(dir), sharedPrefix)] {
			continue
		}
		if failed := os.RemoveAll(dir); failed != nil {
			err = errors.Join(err, &sim.EnvironmentError{Doing: "remove the directory of a kind cluster that is gone", Err: failed})
			continue
		}
		removed = append(removed, dir)
	}
	return removed, err
}
