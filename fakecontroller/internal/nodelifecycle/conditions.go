package nodelifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// heartbeatConditions are the conditions that a kubelet keeps up to date.
var heartbeatConditions = []corev1.NodeConditionType{
	corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
}

// condition returns nil if the node lacks it.
func condition(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	return find(node.Status.Conditions, kind)
}

func find(conditions []corev1.NodeCondition, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// heartbeat returns the time of the kubelet's last write of the node's status, according to the
// status.
func heartbeat(node *corev1.Node) metav1.Time {
	if ready := condition(node, corev1.NodeReady); ready != nil {
		return ready.LastHeartbeatTime
	}
	return metav1.Time{}
}

// setUnknown sets to unknown everything that a kubelet should have reported.
func setUnknown(status *corev1.NodeStatus, now time.Time) {
	for _, kind := range heartbeatConditions {
		known := find(status.Conditions, kind)
		switch {
		case known == nil:
			status.Conditions = append(status.Conditions, corev1.NodeCondition{
				Type: kind, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(now),
				Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
			})
		case known.Status != corev1.ConditionUnknown:
			known.Status = corev1.ConditionUnknown
			known.LastTransitionTime = metav1.NewTime(now)
			known.Reason, known.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
	}
}

// markPodsNotReady marks the pods of a silent node as not ready.
func (c *Controller) markPodsNotReady(p *kernel.Process, node string) {
	for pod := range c.podsOf(node) {
		if !isReady(pod) {
			continue
		}
		_, err := component.PatchStatus(p, c.Component, store.KeyOf(pod), func(pod *corev1.Pod) {
			for i := range pod.Status.Conditions {
				if ready := &pod.Status.Conditions[i]; ready.Type == corev1.PodReady {
					ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(p.Now())
				}
			}
		})
		if err == nil {
			c.Event(pod, corev1.EventTypeWarning, "NodeNotReady", "Node is not ready")
		}
	}
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
