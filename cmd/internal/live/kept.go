package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// The files in a state directory that belong neither to nodes nor to drivers.
const (
	journalName = "cluster.json"
	keyName     = "service-account.key"
)

// kept is the directory with the state of a cluster; the state outlives the cluster.
type kept struct {
	dir     *workdir.Dir
	objects *keptObjects // nil for a new cluster
	journal *journal
	broken  error // while the cluster starts: a write could not be kept
}

// openKept takes the state directory; nil if the cluster is not kept.
func (o Options) openKept() (*kept, error) {
	if o.State == "" {
		return nil, nil
	}
	if err := checkStateDir(o.State); err != nil {
		return nil, err
	}
	dir, err := workdir.Keep(o.State)
	switch {
	case errors.Is(err, workdir.ErrInUse):
		return nil, &InputError{fmt.Errorf("--state %s: another csisim up has it: stop that one, or give this one another directory", o.State)}
	case err != nil:
		return nil, &EnvironmentError{fmt.Errorf("--state %s: %w", o.State, err)}
	}
	k := &kept{dir: dir, journal: &journal{path: filepath.Join(dir.Path(), journalName)}}
	k.objects, err = readJournal(k.journal.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = k.empty()
	case err != nil:
		err = &InputError{fmt.Errorf("--state: %w", err)}
	case k.objects.torn:
		fmt.Fprintf(o.Stderr, "csisim: %s: its last line is incomplete and is left out: the cluster was killed during this write\n", k.journal.path)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	apiserver.KeepSigningKey(filepath.Join(dir.Path(), keyName))
	return k, nil
}

// checkStateDir rejects a directory with files that csisim has not written.
func checkStateDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 && err == nil {
		return nil
	}
	if err != nil {
		return &InputError{fmt.Errorf("--state: %w", err)}
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == workdir.LockName }) {
		return nil
	}
	return &InputError{fmt.Errorf("--state %s: found %s in it, want a directory that is empty, missing or of an earlier csisim up --state", dir, entries[0].Name())}
}

// empty removes the files of a cluster that was killed before it was up for the first time.
func (k *kept) empty() error {
	entries, err := os.ReadDir(k.dir.Path())
	for _, e := range entries {
		if e.Name() != workdir.LockName {
			err = errors.Join(err, workdir.RemoveTree(filepath.Join(k.dir.Path(), e.Name())))
		}
	}
	return err
}

// end stops recording writes, because the writes at the end of a cluster are not part of its state.
func (k *kept) end() {
	if k != nil {
		_ = k.journal.end() // all its writes have succeeded
	}
}

// close releases the directory.
func (k *kept) close() error {
	if k == nil {
		return nil
	}
	k.end()
	return k.dir.Close()
}

// options returns the state for the simulation; nil if the cluster is not kept.
func (k *kept) options() *sim.Kept {
	if k == nil {
		return nil
	}
	if k.objects == nil {
		return &sim.Kept{Dir: k.dir}
	}
	last := k.objects.journalHeader
	return &sim.Kept{Dir: k.dir, Starts: last.Starts, Restore: k.restore, Nodes: last.Nodes, Drivers: last.Drivers, Kubernetes: last.Kubernetes}
}

// restore puts the objects into the store, and keeps all writes from then on.
func (k *kept) restore(s *store.Store) error {
	if err := k.objects.restore(s); err != nil {
		return &sim.ConfigError{Subject: "the state in " + k.dir.Path(), Problem: err.Error()}
	}
	k.objects.lines = nil // the store has the objects now
	k.journal.header = k.objects.journalHeader
	k.journal.header.Starts++
	k.journal.failed = func(err error) { k.broken = err }
	return k.journal.follow(s)
}

// follow keeps the objects of a cluster that is up.
func (k *kept) follow(c *sim.Simulation) error {
	if k == nil {
		return nil
	}
	h := &k.journal.header
	h.Format, h.Starts = journalFormat, max(h.Starts, 1)
	h.Nodes, h.Drivers, h.Kubernetes = c.Nodes(), c.Drivers(), c.World.Version
	k.journal.failed = func(err error) { c.Interrupt(&EnvironmentError{err}) }
	if k.broken != nil {
		return k.broken
	}
	return k.journal.follow(c.World.Store)
}

// start waits until the cluster may begin, and returns the time of its clock then.
func (k *kept) start(ctx context.Context) time.Time {
	var last time.Time
	if k != nil && k.objects != nil {
		last = k.objects.Time
	}
	start, wait := startOf(last, time.Now())
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	return start
}

// startOf returns the time at which the clock of a cluster begins, and the wait before that. last
// is the end of the last cluster. The clock never runs backwards. If the last cluster has just
// ended, the wait keeps the clock from running ahead of the real one.
func startOf(last, now time.Time) (start time.Time, wait time.Duration) {
	start = now.Add(-bootTime)
	switch ahead := last.Sub(start); {
	case ahead <= 0:
		return start, 0
	case ahead > bootTime: // it was ahead before, by --speed
		return last, 0
	default:
		return last, ahead
	}
}

// hint describes the state; empty if the cluster is not kept.
func (k *kept) hint() string {
	switch {
	case k == nil:
		return ""
	case k.objects == nil:
		return fmt.Sprintf("Kept in %s: objects, the kubelets' directories, the drivers' state directories; other files of nodes are lost at the end\n", k.dir.Path())
	}
	return fmt.Sprintf("Continued from %s: the objects and steps of the file were not applied again\n", k.dir.Path())
}
