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
	waits := func() bool { return len(r.contents.unready)+len(r.groupContents.unready) > 0 }
	component.Resync(p, "contents that a resync is for", resyncPeriod, waits, func() {
		addAll(r.contents.queue, r.contents.unready)
		addAll(r.groupContents.queue, r.groupContents.unready)
	})
}

func addAll(queue *workqueue.Queue[store.Key], keys map[store.Key]bool) {
	byName := func(a, b store.Key) int { return cmp.Compare(a.Name, b.Name) }
	for _, key := range slices.SortedFunc(maps.Keys(keys), byName) {
		queue.Add(key)
	}
}
