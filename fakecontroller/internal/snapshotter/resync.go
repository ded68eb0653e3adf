package snapshotter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// resyncPeriod is how often the informers deliver everything again. C-SNAP-30
const resyncPeriod = 15 * time.Minute

// resync looks again at contents of snapshots that are not ready, since the sidecar otherwise
// misses changes of their status by others. It also looks at those that are to be deleted: a
// deletion that could not begin has no further event either. It would change nothing for others.
// C-SNAP-31
func (r *run) resync(p *kernel.Process) {
	waits := func() bool { return len(r.unready)+len(r.unreadyGroups) > 0 }
	component.Resync(p, "contents that a resync is for", resyncPeriod, waits, func() {
		addAll(r.contentQueue, r.unready)
		addAll(r.groupQueue, r.unreadyGroups)
	})
}

func addAll(queue *workqueue.Queue[store.Key], keys map[store.Key]bool) {
	byName := func(a, b store.Key) int { return cmp.Compare(a.Name, b.Name) }
	for _, key := range slices.SortedFunc(maps.Keys(keys), byName) {
		queue.Add(key)
	}
}

// noteReadiness remembers which contents a resync is for.
func (r *run) noteReadiness(e store.Event[content]) {
	r.note(r.unready, store.KeyOf(e.Object), e.Type != store.Deleted && (!isReady(e.Object) || e.Object.DeletionTimestamp != nil) && r.own(e.Object))
}

func (r *run) noteGroupReadiness(e store.Event[groupContent]) {
	r.note(r.unreadyGroups, store.KeyOf(e.Object), e.Type != store.Deleted && (!isGroupReady(e.Object) || e.Object.DeletionTimestamp != nil) && r.ownGroup(e.Object))
}

func (r *run) note(unready map[store.Key]bool, key store.Key, is bool) {
	if !is {
		delete(unready, key)
		return
	}
	unready[key] = true
	r.resyncer.Wake()
}
