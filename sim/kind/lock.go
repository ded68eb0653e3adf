package kind

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// lock is the lock of a cluster: go test runs the tests of several packages at once.
type lock struct {
	dir  string
	held io.Closer
}

// asksAgain is the interval at which a process retries to get a lock.
const asksAgain = 200 * time.Millisecond

// acquire waits until no other process uses the cluster.
func acquire(on string) (*lock, error) {
	name := fnv.New64a()
	_, _ = io.WriteString(name, on) // it never fails
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("csisim-tests-%x", name.Sum64()))
	for waits := false; ; waits = true {
		err := os.MkdirAll(dir, 0o700)
		var held io.Closer
		if err == nil {
			held, err = workdir.Lock(dir)
		}
		switch {
		case err == nil:
			return &lock{dir, held}, nil
		case !errors.Is(err, workdir.ErrInUse):
			return nil, &sim.EnvironmentError{Doing: "wait for other tests on " + on, Err: err}
		case !waits:
			fmt.Fprintf(os.Stderr, "Waiting for other tests on %s …\n", on)
		}
		time.Sleep(asksAgain)
	}
}

// release passes the lock on to the next process.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return errors.Join(workdir.RemoveTree(l.dir), l.held.Close())
}
