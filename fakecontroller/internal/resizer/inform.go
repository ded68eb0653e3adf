package resizer

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// inform queues the events of the informer. C-RES-4
func (r *run) inform(p *kernel.Process) {
	r.RunInformers(p, component.Informers{News: "claims to expand or modify", Sources: []component.Source{component.On(func(e store.Event[claim]) {
		if r.features.expands() && (e.Type == store.Added || e.Type == store.Modified && sizeMatters(e.Old, e.Object)) {
			r.sizes.Add(store.KeyOf(e.Object))
		}
		if r.features.modify && (e.Type == store.Added || e.Type == store.Modified && attributesMatter(e.Old, e.Object)) {
			r.attributes.Add(store.KeyOf(e.Object))
		}
	})}})
}

// sizeMatters ignores updates without a relation to a claim's size.
func sizeMatters(old, now claim) bool {
	return now.Spec.Resources.Requests.Storage().Cmp(*old.Spec.Resources.Requests.Storage()) != 0 ||
		now.Annotations[annResizer] != old.Annotations[annResizer] ||
		now.Status.Capacity.Storage().Cmp(*old.Status.Capacity.Storage()) > 0 ||
		resizeStatus(now) != resizeStatus(old)
}

// attributesMatter: C-RES-40
func attributesMatter(old, now claim) bool {
	return (asked(now) != asked(old) || now.Status.ModifyVolumeStatus == nil) && now.Status.Phase == corev1.ClaimBound
}

// annResizer names the driver that expands the claim of a migrated volume. C-EXP-3
const annResizer = "volume.kubernetes.io/storage-resizer"

// resync queues the claims that are not in their desired state. This ends their backoff early.
// Other claims would not change.
func (r *run) resync(p *kernel.Process) {
	for {
		p.Idle(resyncPeriod)
		for pvc := range store.List[claim](r.Cache, "") {
			if r.features.expands() && wantsMore(pvc) {
				r.sizes.Add(store.KeyOf(pvc))
			}
			if r.features.modify && pvc.Status.ModifyVolumeStatus != nil {
				r.attributes.Add(store.KeyOf(pvc))
			}
		}
	}
}

func wantsMore(pvc claim) bool {
	return pvc.Status.Phase == corev1.ClaimBound && pvc.Spec.VolumeName != "" &&
		pvc.Spec.Resources.Requests.Storage().Cmp(*pvc.Status.Capacity.Storage()) > 0
}

func resizeStatus(pvc claim) corev1.ClaimResourceStatus {
	return pvc.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
}
