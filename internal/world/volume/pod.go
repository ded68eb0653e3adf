package volume

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// ClaimOf returns the claim of a pod volume, which is named directly or created for the pod from a
// template. ok is false for volumes of other kinds.
func ClaimOf(pod *corev1.Pod, v *corev1.Volume) (key store.Key, ephemeral, ok bool) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return store.Key{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}, false, true
	case v.Ephemeral != nil:
		return store.Key{Namespace: pod.Namespace, Name: pod.Name + "-" + v.Name}, true, true
	default:
		return store.Key{}, false, false
	}
}

// Terminated reports whether a pod's containers have ended. C-GEN-10
func Terminated(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	if pod.DeletionTimestamp == nil {
		return false
	}
	for _, statuses := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for _, s := range statuses {
			if s.State.Terminated == nil && s.State.Waiting == nil {
				return false
			}
		}
	}
	return true
}
