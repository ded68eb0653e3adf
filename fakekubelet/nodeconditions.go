package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions are those of a healthy node, but for what its CSINode says; a
// condition that does not change keeps the time since when it holds.
func (k *Kubelet) conditions(before []corev1.NodeCondition) []corev1.NodeCondition {
	now := metav1.NewTime(k.Kernel.Now())
	conditions := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		k.readiness(),
	}
	for i := range conditions {
		c := &conditions[i]
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		for _, was := range before {
			if was.Type == c.Type && was.Status == c.Status {
				c.LastTransitionTime = was.LastTransitionTime
			}
		}
	}
	return conditions
}

// readiness is the Ready condition. K-NODE-1
func (k *Kubelet) readiness() corev1.NodeCondition {
	why := k.info.NotReady()
	if k.shuttingDown {
		why = "node is shutting down"
	}
	if why != "" {
		return corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: why}
	}
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
}

// healthEvents are emitted when a condition that says that all is well is new.
var healthEvents = map[corev1.NodeConditionType]string{
	corev1.NodeMemoryPressure: "NodeHasSufficientMemory",
	corev1.NodeDiskPressure:   "NodeHasNoDiskPressure",
	corev1.NodePIDPressure:    "NodeHasSufficientPID",
}

// announce emits an event of each condition that becomes another one than it was: of
// readiness only if there was one. [pkg/kubelet/nodestatus/setters.go]
func (k *Kubelet) announce(before []corev1.NodeCondition) {
	for _, is := range k.conditions(nil) {
		was := slices.IndexFunc(before, func(c corev1.NodeCondition) bool { return c.Type == is.Type })
		reason := healthEvents[is.Type]
		switch {
		case was >= 0 && before[was].Status == is.Status, was < 0 && reason == "":
			continue
		case reason == "" && is.Status == corev1.ConditionTrue:
			reason = "NodeReady"
		case reason == "":
			reason = "NodeNotReady"
		}
		k.Event(k.reference(), corev1.EventTypeNormal, reason, "Node %s status is now: %s", k.options.Name, reason)
	}
}
