package fakekubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// rejectionTime is the time after which a rejected pod fails. A workload replaces such a pod at
// once, and the scheduler may choose the same node again. In a real cluster only the limit of
// replicaset-controller, 20 requests a second, slows this down.
const rejectionTime = 50 * time.Millisecond

// turnAway ends a pod that was not admitted. A pod that an earlier kubelet ran keeps its phase
// until the first housekeeping has stopped its containers and the status manager has made its next
// round. K-ADM-6
func (w *podWorker) turnAway(p *kernel.Process) {
	w.Event(w.pod, corev1.EventTypeWarning, w.rejected.reason, "%s", w.rejected.message)
	w.Metrics.Add("kubelet_admission_rejections_total", 1, "reason", w.rejected.reason)
	if !w.housekeeping.passed {
		w.setStatus(p, w.rejectedStatus(false))
		p.Wait("the first housekeeping", func() bool { return w.housekeeping.passed })
		w.stopContainers(w.pod.UID)
		w.stopped = true
		w.volumes.PodChanged(w.pod.UID)
		p.Sleep(w.nextRound(p))
	} else {
		p.Sleep(rejectionTime)
	}
	w.end(p, w.rejectedStatus(true))
}

// rejectedStatus returns the status of a pod that was not admitted. It has no containers and no
// conditions.
func (w *podWorker) rejectedStatus(final bool) func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses = nil, nil, nil
		s.Conditions = dropKubeletConditions(s.Conditions)
		if s.StartTime == nil {
			now := metav1.NewTime(w.Kernel.Now())
			s.StartTime = &now
		}
		if final {
			s.Phase, s.Reason, s.Message = corev1.PodFailed, w.rejected.reason, "Pod was rejected: "+w.rejected.message
		}
	}
}

// dropKubeletConditions returns the conditions that other components write.
// [pkg/kubelet/types/pod_status.go]
func dropKubeletConditions(all []corev1.PodCondition) (kept []corev1.PodCondition) {
	for _, c := range all {
		switch c.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReadyToStartContainers:
		default:
			kept = append(kept, c)
		}
	}
	return kept
}
