package fakekubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// eviction is the reason, in the pod's status, why the kubelet itself ends a pod.
type eviction struct {
	reason, message string
	condition       string         // message of the condition DisruptionTarget; empty for none
	grace           *time.Duration // grace period of its containers; nil means the pod's own
}

// evict ends a pod. If there are several reasons, the first one counts.
func (w *podWorker) evict(why eviction) {
	if w.evicted == nil {
		w.evicted = &why
	}
	w.terminating = true
	w.process.Wake()
	w.wakeContainers()
}

// evictedStatus returns the status of a pod that the kubelet has ended.
func (w *podWorker) evictedStatus(ended func(*corev1.PodStatus)) func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		ended(s)
		s.Phase, s.Reason, s.Message = corev1.PodFailed, w.evicted.reason, w.evicted.message
		if w.evicted.condition != "" {
			w.condition(s, corev1.DisruptionTarget, corev1.ConditionTrue, corev1.PodReasonTerminationByKubelet, w.evicted.condition)
		}
	}
}
