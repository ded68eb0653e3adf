package podgc

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// reason is the reason why a pod is removed.
type reason int

const (
	none reason = iota
	// orphaned: its node no longer exists.
	orphaned
	// outOfService: it is being deleted, and its node is out of service. C-ADC-62
	outOfService
	// unscheduled: it is being deleted and was never on a node.
	unscheduled
)

func (c *Controller) reason(pod *corev1.Pod) reason {
	if pod.Spec.NodeName == "" {
		if pod.DeletionTimestamp != nil {
			return unscheduled
		}
		return none
	}
	node, exists := component.Cached[*corev1.Node](c.Component, store.Key{Name: pod.Spec.NodeName})
	switch {
	case !exists:
		return orphaned
	case pod.DeletionTimestamp != nil && c.Version.Has(version.OutOfService) && abandoned(node):
		return outOfService
	default:
		return none
	}
}

// abandoned: not ready and tainted as out of service.
func abandoned(node *corev1.Node) bool {
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
	return !ready && tainted
}
