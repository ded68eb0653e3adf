package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions returns the conditions of a healthy node. Its CSINode may make it not ready, and
// shortages cause pressure. A condition that does not change keeps its transition time.
func (k *Kubelet) conditions(before []corev1.NodeCondition) []corev1.NodeCondition {
	now := metav1.NewTime(k.Kernel.Now())
	conditions := []corev1.NodeCondition{
		k.pressureCondition(corev1.NodeMemoryPressure),
		k.pressureCondition(corev1.NodeDiskPressure),
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

// pressures are the conditions for each resource: with a shortage, and without.
// [pkg/kubelet/nodestatus/setters.go]
var pressures = map[corev1.NodeConditionType]struct{ with, without corev1.NodeCondition }{
	corev1.NodeMemoryPressure: {
		corev1.NodeCondition{Reason: "KubeletHasInsufficientMemory", Message: "kubelet has insufficient memory available"},
		corev1.NodeCondition{Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
	},
	corev1.NodeDiskPressure: {
		corev1.NodeCondition{Reason: "KubeletHasDiskPressure", Message: "kubelet has disk pressure"},
		corev1.NodeCondition{Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
	},
}

// pressureCondition returns the condition of a resource.
func (k *Kubelet) pressureCondition(t corev1.NodeConditionType) corev1.NodeCondition {
	c := pressures[t].without
	c.Status = corev1.ConditionFalse
	if k.evictions != nil && slices.Contains(k.evictions.holding(), t) {
		c = pressures[t].with
		c.Status = corev1.ConditionTrue
	}
	c.Type = t
	return c
}

// pressureDiffers reports whether a pressure condition in the node's status is outdated.
func (k *Kubelet) pressureDiffers(node *corev1.Node) bool {
	return k.evictions != nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		_, is := pressures[c.Type]
		return is && c.Status != k.pressureCondition(c.Type).Status
	})
}

// readiness returns the Ready condition. K-NODE-1
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

// healthEvents are emitted when the status of a resource's condition changes.
var healthEvents = map[corev1.NodeConditionType]map[corev1.ConditionStatus]string{
	corev1.NodeMemoryPressure: {corev1.ConditionFalse: "NodeHasSufficientMemory", corev1.ConditionTrue: "NodeHasInsufficientMemory"},
	corev1.NodeDiskPressure:   {corev1.ConditionFalse: "NodeHasNoDiskPressure", corev1.ConditionTrue: "NodeHasDiskPressure"},
	corev1.NodePIDPressure:    {corev1.ConditionFalse: "NodeHasSufficientPID"},
}

// announce emits an event for each changed condition. For readiness it requires that the condition
// existed before. [pkg/kubelet/nodestatus/setters.go]
func (k *Kubelet) announce(before []corev1.NodeCondition) {
	for _, is := range k.conditions(nil) {
		was := slices.IndexFunc(before, func(c corev1.NodeCondition) bool { return c.Type == is.Type })
		reason := healthEvents[is.Type][is.Status]
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
