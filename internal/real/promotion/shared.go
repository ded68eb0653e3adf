package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/real/kindcluster"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// sharedPrefix is the prefix of the directories that the nodes of a kind cluster share, before the
// cluster's name.
const sharedPrefix = "csisim-kind-"

// sharedDir returns the directory of a cluster below the work directory.
func sharedDir(workDir, cluster string) string {
	return filepath.Join(cmp.Or(workDir, os.TempDir()), sharedPrefix+cmp.Or(cluster, kindcluster.DefaultName))
}

// newShared creates the empty directory of a new cluster, and locks it. kind does not list the
// cluster before its first node exists, which may need a long pull. It replaces the directory of an
// earlier, deleted cluster.
func newShared(dir, cluster string) (lock io.Closer, err error) {
	if err = os.MkdirAll(dir, 0o755); err == nil {
		lock, err = workdir.Lock(dir)
	}
	if errors.Is(err, workdir.ErrInUse) {
		return nil, &sim.ConfigError{Subject: fmt.Sprintf("cluster %q", cluster), Problem: "another run is making it, or cleans up after it: wait for that run"}
	}
	if err == nil {
		err = empty(dir)
	}
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "make a directory for the nodes", Err: errors.Join(err, unlock(lock))}
	}
	return lock, nil
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != workdir.LockName {
			err = errors.Join(err, workdir.RemoveTree(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func unlock(lock io.Closer) error {
	if lock == nil {
		return nil
	}
	return lock.Close()
}

// emptyTime bounds the time that a node may take to empty the directory.
const emptyTime = 30 * time.Second

// removeShared deletes the cluster and the directory of its nodes. A user may be unable to remove
// files of the nodes' root user. Therefore a node removes them first.
func (t *Target) removeShared() error {
	dir := sharedDir(t.options.WorkDir, t.kind.Name())
	if _, err := os.Stat(dir); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), emptyTime)
		defer cancel()
		// The remaining files are removed here, or the error is returned.
		_ = t.kind.RunOnOne(ctx, "find", SharedState, "-xdev", "-mindepth", "1", "!", "-path", SharedState+"/"+workdir.LockName, "-delete")
	}
	if err := t.kind.Delete(); err != nil {
		return err
	}
	if err := workdir.RemoveTree(dir); err != nil {
		return &sim.EnvironmentError{Doing: "remove the directory of the kind cluster's nodes", Err: err}
	}
	return nil
}

// CleanShared removes the directories of kind clusters that neither exist nor are being created by
// a run. Without directories it queries no engine. If no engine answers it removes nothing and
// returns an error, since the existing clusters are unknown.
func CleanShared(workDir string) (removed []string, err error) {
	parent := cmp.Or(workDir, os.TempDir())
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, nil // the search for other leftovers there returns the error
	}
	var dirs []string
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), sharedPrefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		lock, failed := workdir.Lock(dir)
		switch {
		case failed == nil:
			defer lock.Close()
			dirs = append(dirs, dir)
		case !errors.Is(failed, workdir.ErrInUse):
			err = errors.Join(err, &sim.EnvironmentError{Doing: "look at the directory of a kind cluster", Err: failed})
		}
	}
	if len(dirs) == 0 {
		return nil, err
	}
	there, unknown := kindcluster.Names()
	if unknown != nil {
		return nil, errors.Join(err, fmt.Errorf("%s may be of a kind cluster that does not exist any more: %w", strings.Join(dirs, ", "), unknown))
	}
	for _, dir := range dirs {
		if there[strings.TrimPrefix(filepath.Base(dir), sharedPrefix)] {
			continue
		}
		if failed := workdir.RemoveTree(dir); failed != nil {
			err = errors.Join(err, &sim.EnvironmentError{Doing: "remove the directory of a deleted kind cluster", Err: failed})
			continue
		}
		removed = append(removed, dir)
	}
	return removed, err
}
