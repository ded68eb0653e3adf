package attacher

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// inform queues the events of the informer. C-ATT-4
func (r *run) inform(p *kernel.Process) {
	attachments := component.Watch[*storagev1.VolumeAttachment](r.Component, p, store.ByIndex(kind.AttachmentsByAttacher, r.features.driver))
	volumes := component.Watch[*corev1.PersistentVolume](r.Component, p)
	var take func(*kernel.Process)
	take = func(p *kernel.Process) {
		for e, ok := attachments.Next(); ok; e, ok = attachments.Next() {
			r.attachmentChanged(e)
		}
		for e, ok := volumes.Next(); ok; e, ok = volumes.Next() {
			if e.Type != store.Deleted && r.mayRelease(e.Object) {
				r.volumes.Add(store.KeyOf(e.Object))
			}
		}
		p.React("VolumeAttachments and PersistentVolumes", take)
	}
	take(p)
}

func (r *run) attachmentChanged(e store.Event[*storagev1.VolumeAttachment]) {
	switch {
	case e.Type == store.Deleted:
		if name := e.Object.Spec.Source.PersistentVolumeName; name != nil {
			r.volumes.Add(store.Key{Name: *name})
		}
	case e.Type == store.Added || matters(e.Old, e.Object):
		r.attachments.Add(store.KeyOf(e.Object))
	}
}

// matters reports whether a change queues an attachment. If only the sidecar's own error report
// changed, the attachment is not processed before its backoff ends. C-ATT-4
func matters(old, now *storagev1.VolumeAttachment) bool {
	if old.Status.Attached != now.Status.Attached || len(old.Finalizers) != len(now.Finalizers) || len(old.Annotations) != len(now.Annotations) {
		return true
	}
	was, is := *old, *now
	for _, va := range []*storagev1.VolumeAttachment{&was, &is} {
		va.ResourceVersion, va.ManagedFields = "", nil
		va.Status.AttachError, va.Status.DetachError = nil, nil
	}
	return was.Size() != is.Size() || !equality.Semantic.DeepEqual(&was, &is)
}
