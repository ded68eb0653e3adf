package apiserver

import (
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/store"
)

// maxHistory bounds the number of writes that are kept. A watch from an older version must start
// again, like on a real server with a full window.
const maxHistory = 10_000

// history is the log of recent writes, from which watches are served and lists of past versions are
// computed. Its commits are written with exclusive access to the store. The lock protects watches,
// which read commits without that access.
type history struct {
	lock    sync.Mutex
	commits []store.Commit
	// oldest is the version from which all writes are kept.
	oldest uint64
	latest uint64
	grown  chan struct{} // closed at the next write
}

func newHistory(revision uint64) *history {
	return &history{oldest: revision, latest: revision, grown: make(chan struct{})}
}

func (h *history) add(c store.Commit) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if len(h.commits) == maxHistory {
		drop := maxHistory / 10
		h.oldest = h.commits[drop-1].Revision
		h.commits = slices.Clone(h.commits[drop:])
	}
	h.commits = append(h.commits, c)
	h.latest = c.Revision
	close(h.grown)
	h.grown = make(chan struct{})
}

func (h *history) compact(revision uint64) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.commits, h.oldest = nil, revision
	close(h.grown)
	h.grown = make(chan struct{})
}

// since returns the writes after a version, up to the latest, and a channel that is closed when
// there are more.
func (h *history) since(revision uint64) (commits []store.Commit, latest uint64, more <-chan struct{}, err error) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if revision < h.oldest {
		return nil, 0, nil, h.expired(revision)
	}
	at, _ := slices.BinarySearchFunc(h.commits, revision+1, func(c store.Commit, revision uint64) int {
		return int(int64(c.Revision) - int64(revision))
	})
	return h.commits[at:len(h.commits):len(h.commits)], h.latest, h.grown, nil
}

func (h *history) expired(revision uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", revision, h.oldest))
}

// waiting returns a channel that is closed at the next write.
func (h *history) waiting() (latest uint64, more <-chan struct{}) {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.latest, h.grown
}
