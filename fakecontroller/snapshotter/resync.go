package snapshotter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/store"
)

// resyncPeriod is how often the informers tell everything again. C-SNAP-30
const resyncPeriod = 15 * time.Minute

// resync looks again at contents whose snapshots are not ready: what others write into
// their status the sidecar is not told otherwise. Those that are ready would be left
// alone. C-SNAP-31
func (r *run) resync(p *kernel.Process) {
	started := p.Elapsed()
	for {
		p.Wait("contents that are not ready", func() bool { return len(r.unready) > 0 })
		at := started + ((p.Elapsed()-started)/resyncPeriod+1)*resyncPeriod
		for p.IdleUntil("resync of the informers", at) {
		}
		byName := func(a, b store.Key) int { return cmp.Compare(a.Name, b.Name) }
		for _, key := range slices.SortedFunc(maps.Keys(r.unready), byName) {
			r.contentQueue.Add(key)
		}
	}
}

// noteReadiness remembers which contents a resync is for.
func (r *run) noteReadiness(e store.Event[content]) {
	key := store.KeyOf(e.Object)
	if e.Type == store.Deleted || isReady(e.Object) || !r.own(e.Object) {
		delete(r.unready, key)
		return
	}
	r.unready[key] = true
	r.resyncer.Wake()
}
