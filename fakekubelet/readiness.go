package fakekubelet

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// gates returns the condition Ready of a pod with ready containers. It is false while the condition
// of a readiness gate is not true. K-POD-15
func (w *podWorker) gates(s *corev1.PodStatus) (status corev1.ConditionStatus, reason, message string) {
	var unmet []string
	for _, gate := range w.pod.Spec.ReadinessGates {
		switch c := conditionOf(s, gate.ConditionType); {
		case c == nil:
			unmet = append(unmet, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case c.Status != corev1.ConditionTrue:
			unmet = append(unmet, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate.ConditionType, c.Status))
		}
	}
	if len(unmet) == 0 {
		return corev1.ConditionTrue, "", ""
	}
	return corev1.ConditionFalse, "ReadinessGatesNotReady", strings.Join(unmet, ", ")
}

func conditionOf(s *corev1.PodStatus, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &s.Conditions[i]
}

// considerGates rewrites Ready after another component has changed the condition of a readiness
// gate. condition applies the gates.
func (w *podWorker) considerGates() {
	if len(w.pod.Spec.ReadinessGates) == 0 || w.terminating || !w.gatesDiffer(&w.pod.Status) {
		return
	}
	w.Go("readiness gates of "+store.KeyOf(w.pod).String(), func(p *kernel.Process) {
		w.setStatus(p, func(s *corev1.PodStatus) {
			if w.gatesDiffer(s) {
				w.condition(s, corev1.PodReady, corev1.ConditionTrue, "", "")
			}
		})
	})
}

// gatesDiffer reports whether the condition Ready contradicts the containers and the gates, or
// another component has replaced all conditions.
func (w *podWorker) gatesDiffer(s *corev1.PodStatus) bool {
	unready := func(c corev1.ContainerStatus) bool { return !c.Ready }
	if len(s.ContainerStatuses) == 0 || slices.ContainsFunc(s.ContainerStatuses, unready) {
		return false
	}
	ready := conditionOf(s, corev1.PodReady)
	if ready == nil {
		return true
	}
	status, reason, message := w.gates(s)
	return status != ready.Status || reason != ready.Reason || message != ready.Message
}
