package expect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// Find returns all objects of a reference. After its claimRef was removed, a volume still counts as
// its last claim's volume until the claim has another one.
func (ev *Evidence) Find(ref Reference) []store.Object {
	found := ref.Find(ev.Store)
	if !ref.ByClaim() {
		return found
	}
	claim := strings.TrimPrefix(ref.Name, claimPrefix)
	switch ref.Resource.GVK.Kind {
	case "PersistentVolume":
		for _, pv := range ev.formerVolumes(claim) {
			found = append(found, pv)
		}
	case "VolumeAttachment":
		for _, pv := range ev.formerVolumes(claim) {
			found = append(found, attachmentsOf(ev.Store, pv)...)
		}
	}
	return found
}

// formerVolumes returns the volumes without a claimRef that were last bound to a claim of that
// name. It returns the newest first, and at most one for each claim. A claim with a volume has no
// former one.
func (ev *Evidence) formerVolumes(claim string) (former []*corev1.PersistentVolume) {
	unclaimed := map[types.UID]*corev1.PersistentVolume{}
	served := map[store.Key]bool{}
	for pv := range store.List[*corev1.PersistentVolume](ev.Store, "") {
		if of := pv.Spec.ClaimRef; of != nil {
			served[store.Key{Namespace: of.Namespace, Name: of.Name}] = true
		} else {
			unclaimed[pv.UID] = pv
		}
	}
	if len(unclaimed) == 0 {
		return nil
	}
	for _, e := range slices.Backward(ev.recorder.Events()) {
		was, is := e.New.(*corev1.PersistentVolume)
		if !is || unclaimed[was.UID] == nil {
			continue
		}
		of := was.Spec.ClaimRef
		if of != nil && claimFits(claim, of.Namespace, of.Name) && !served[store.Key{Namespace: of.Namespace, Name: of.Name}] {
			served[store.Key{Namespace: of.Namespace, Name: of.Name}] = true
			former = append(former, unclaimed[was.UID])
		}
		if of != nil || e.Old == nil {
			delete(unclaimed, was.UID)
		}
		if len(unclaimed) == 0 {
			break
		}
	}
	return former
}

func attachmentsOf(s *store.Store, pv *corev1.PersistentVolume) (found []store.Object) {
	for attachment := range store.List[*storagev1.VolumeAttachment](s, "") {
		if of := attachment.Spec.Source.PersistentVolumeName; of != nil && *of == pv.Name {
			found = append(found, attachment)
		}
	}
	return found
}
