package snapshotter

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// inform queues the events of the informer. C-SNAP-31
func (r *run) inform(p *kernel.Process) {
	r.RunInformers(p, component.Informers{News: "snapshot contents to work on", Sources: []component.Source{component.On(func(e store.Event[content]) {
		r.contents.noteReadiness(e)
		if e.Type == store.Added || e.Type == store.Modified && r.matters(e.Old, e.Object) {
			r.contents.queue.Add(store.KeyOf(e.Object))
		}
	})}})
}

// matters reports whether a change makes the sidecar process the content again. The sidecar's own
// writes do not end the backoff. A write that makes a snapshot ready does end it, because the
// deletion may wait for this. Old releases ignore only errors. C-SNAP-31
func (r *run) matters(old, now content) bool {
	if !r.opts.Version.Has(sidecar.IgnoresOwnWrites) {
		return now.Status == nil || now.Status.Error == nil
	}
	if !isReady(old) && isReady(now) && r.opts.Version.Has(sidecar.DeletesOnceReady) {
		return true
	}
	was, is := *old, *now
	for _, c := range []content{&was, &is} {
		c.ResourceVersion, c.ManagedFields, c.Finalizers, c.Status = "", nil, nil, nil
		c.Annotations = maps.Clone(c.Annotations)
		delete(c.Annotations, snapshot.BeingCreated)
	}
	return !equality.Semantic.DeepEqual(&was, &is)
}

func isReady(c content) bool {
	return c.Status != nil && c.Status.ReadyToUse != nil && *c.Status.ReadyToUse
}
