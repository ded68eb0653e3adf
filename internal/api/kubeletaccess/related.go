package kubeletaccess

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// isRelated reports whether an object is related to the node: a pod that runs there, an object that
// such a pod uses, or an object that one of its volumes uses. [graph.go AddPod, AddPV,
// AddVolumeAttachment, AddResourceSlice]
func (q question) isRelated(resource, namespace, name string) bool {
	switch resource {
	case "pods":
		pod, ok := store.Get[*corev1.Pod](q.store, store.Key{Namespace: namespace, Name: name})
		return ok && pod.Spec.NodeName == q.node
	case "persistentvolumes":
		volume, ok := store.Get[*corev1.PersistentVolume](q.store, store.Key{Name: name})
		return ok && q.isMounted(volume)
	case "volumeattachments":
		attachment, ok := store.Get[*storagev1.VolumeAttachment](q.store, store.Key{Name: name})
		return ok && attachment.Spec.NodeName == q.node
	case "resourceslices":
		slice, ok := store.Get[*resourcev1.ResourceSlice](q.store, store.Key{Name: name})
		return ok && slice.Spec.NodeName != nil && *slice.Spec.NodeName == q.node
	}
	if q.aPodUses(resource, namespace, name) {
		return true
	}
	return resource == "secrets" && q.aVolumeUses(namespace, name)
}

// isMounted reports whether a pod of the node uses the claim of a volume.
func (q question) isMounted(volume *corev1.PersistentVolume) bool {
	claim := volume.Spec.ClaimRef
	return claim != nil && q.aPodUses("persistentvolumeclaims", claim.Namespace, claim.Name)
}

// aPodUses reports whether a pod of the node names an object. Mirror pods do not count, because the
// node itself creates them.
func (q question) aPodUses(resource, namespace, name string) bool {
	for pod := range store.Indexed[*corev1.Pod](q.store, kind.PodsByNode, q.node) {
		_, isMirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
		if pod.Namespace == namespace && !isMirror && uses(pod, resource, name) {
			return true
		}
	}
	return false
}

func (q question) aVolumeUses(namespace, secret string) bool {
	for volume := range store.List[*corev1.PersistentVolume](q.store, "") {
		for _, ref := range nodeSecrets(volume) {
			if ref == (corev1.SecretReference{Name: secret, Namespace: namespace}) && q.isMounted(volume) {
				return true
			}
		}
	}
	return false
}
