package snapshotter

import (
	"maps"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// inform queues the events of the informer. C-SNAP-31
func (r *run) inform(p *kernel.Process) {
	r.RunInformers(p, component.Informers{News: "snapshot contents to work on", Sources: []component.Source{component.On(func(e store.Event[content]) {
		r.noteReadiness(e)
		if e.Type == store.Added || e.Type == store.Modified && matters(e.Old, e.Object) {
			r.contentQueue.Add(store.KeyOf(e.Object))
		}
	})}})
}

// matters: the sidecar's own writes do not break the backoff, but a snapshot that has become ready
// does, for its deletion may wait for that. C-SNAP-31
func matters(old, now content) bool {
	if !isReady(old) && isReady(now) {
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

// own reports whether a content is this driver's. C-SNAP-31
func (r *run) own(c content) bool {
	if c.Spec.Driver != r.driver {
		return false
	}
	if c.Spec.VolumeSnapshotClassName == nil {
		return true
	}
	class, ok := r.class(*c.Spec.VolumeSnapshotClassName)
	return !ok || class.Driver == r.driver
}

func (r *run) class(name string) (*snapshotv1.VolumeSnapshotClass, bool) {
	return component.Cached[*snapshotv1.VolumeSnapshotClass](r.Component, store.Key{Name: name})
}
