package snapshotter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// resyncPeriod is the interval at which the informers deliver all objects again. C-SNAP-30
const resyncPeriod = 15 * time.Minute

// resync processes contents of snapshots that are not ready. Without it the sidecar misses changes
// of their status by others. It also processes contents that have to be deleted, because a deletion
// that could not begin has no further event. Other contents would not change. C-SNAP-31
func (r *run) resync(p *kernel.Process) {
	waits := func() bool { return len(r.contents.unready)+len(r.groupContents.unready) > 0 }
	component.Resync(p, "contents that a resync is for", resyncPeriod, waits, func() {
		resyncAll(r.contents, func(c content) bool { return r.opts.Version.Has(sidecar.ResyncsContents) || r.matters(c, c) })
		resyncAll(r.groupContents, func(groupContent) bool { return true })
	})
}

// resyncAll queues the contents for the resync, unless the event handler drops them.
func resyncAll[C store.Object](k *contents[C], handled func(C) bool) {
	byName := func(a, b store.Key) int { return cmp.Compare(a.Name, b.Name) }
	for _, key := range slices.SortedFunc(maps.Keys(k.unready), byName) {
		if c, ok := component.Cached[C](k.run.Component, key); ok && handled(c) {
			k.queue.Add(key)
		}
	}
}
