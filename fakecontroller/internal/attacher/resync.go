package attacher

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// resyncPeriod is the interval at which the informers deliver all objects again. C-ATT-1
const resyncPeriod = 10 * time.Minute

// resync ends long backoffs early: an attachment that is delivered again is processed at once. Only
// attachments in backoff are delivered, because a delivery changes nothing for others.
func (r *run) resync(p *kernel.Process) {
	component.Resync(p, "attachments in backoff", resyncPeriod, func() bool { return len(r.attachments.Delayed()) > 0 }, func() {
		for _, key := range slices.SortedFunc(maps.Keys(r.attachments.Delayed()), byName) {
			r.attachments.Add(key)
		}
	})
}

func byName(a, b store.Key) int { return cmp.Compare(a.Name, b.Name) }
