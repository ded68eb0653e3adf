package nodelifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
)

// conditionTaint identifies a condition and a status, for which a node gets a taint.
type conditionTaint struct {
	condition corev1.NodeConditionType
	status    corev1.ConditionStatus
	key       string
}

// conditionTaints are the taints with effect NoSchedule that mirror conditions,
// in the order in which they are added.
var conditionTaints = []conditionTaint{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
}

// keepConditionTaints sets the condition taints as soon as a node changes.
func (c *Controller) keepConditionTaints(p *kernel.Process) {
	nodes := component.Watch[*corev1.Node](c.Component, p)
	var keep func(*kernel.Process)
	keep = func(p *kernel.Process) {
		for e, ok := nodes.Next(); ok; e, ok = nodes.Next() {
			node, exists := c.node(e.Object.Name)
			if !exists || len(difference(node)) == 0 {
				continue
			}
			// After an error the taints wait for the node's next change.
			_ = c.patchTaints(p, node, func(taints []corev1.Taint) []corev1.Taint {
				return withConditionTaints(taints, wantedNoSchedule(node), p.Now())
			})
		}
		p.Rest("nodes", keep)
	}
	keep(p)
}

// wantedNoSchedule returns the keys of the NoSchedule taints that a node should have.
func wantedNoSchedule(node *corev1.Node) []string {
	var keys []string
	for _, t := range conditionTaints {
		if is := condition(node, t.condition); is != nil && is.Status == t.status {
			keys = append(keys, t.key)
		}
	}
	if node.Spec.Unschedulable {
		keys = append(keys, corev1.TaintNodeUnschedulable)
	}
	return keys
}

func isConditionTaint(t corev1.Taint) bool {
	if t.Effect != corev1.TaintEffectNoSchedule {
		return false
	}
	return t.Key == corev1.TaintNodeUnschedulable || slices.ContainsFunc(conditionTaints, func(c conditionTaint) bool { return c.key == t.Key })
}

// difference returns the keys of the missing and the superfluous NoSchedule taints of a node.
func difference(node *corev1.Node) []string {
	wanted := wantedNoSchedule(node)
	var wrong []string
	for _, key := range wanted {
		if !hasTaint(node.Spec.Taints, key, corev1.TaintEffectNoSchedule) {
			wrong = append(wrong, key)
		}
	}
	for _, t := range node.Spec.Taints {
		if isConditionTaint(t) && !slices.Contains(wanted, t.Key) {
			wrong = append(wrong, t.Key)
		}
	}
	return wrong
}

// withConditionTaints adds and removes condition taints, and keeps others.
func withConditionTaints(taints []corev1.Taint, wanted []string, now time.Time) []corev1.Taint {
	var result []corev1.Taint
	for _, t := range taints {
		if !isConditionTaint(t) || slices.Contains(wanted, t.Key) {
			result = append(result, t)
		}
	}
	for _, key := range wanted {
		if !hasTaint(result, key, corev1.TaintEffectNoSchedule) {
			result = append(result, newTaint(key, corev1.TaintEffectNoSchedule, now))
		}
	}
	return result
}

func newTaint(key string, effect corev1.TaintEffect, now time.Time) corev1.Taint {
	added := metav1.NewTime(now)
	return corev1.Taint{Key: key, Effect: effect, TimeAdded: &added}
}

func hasTaint(taints []corev1.Taint, key string, effect corev1.TaintEffect) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == effect })
}

// wantedNoExecute returns the key of the taint that evicts pods from an unhealthy node.
func wantedNoExecute(node *corev1.Node) []string {
	ready := condition(node, corev1.NodeReady)
	switch {
	case ready == nil || ready.Status == corev1.ConditionTrue:
		return nil
	case ready.Status == corev1.ConditionFalse:
		return []string{corev1.TaintNodeNotReady}
	default:
		return []string{corev1.TaintNodeUnreachable}
	}
}

func noExecuteKeys(node *corev1.Node) []string {
	var keys []string
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if hasTaint(node.Spec.Taints, key, corev1.TaintEffectNoExecute) {
			keys = append(keys, key)
		}
	}
	return keys
}

// keepNoExecuteTaint evicts pods from an unhealthy node, and stops the eviction when the node is
// healthy again.
func (c *Controller) keepNoExecuteTaint(p *kernel.Process, node *corev1.Node) {
	wanted := wantedNoExecute(node)
	if slices.Equal(noExecuteKeys(node), wanted) {
		return
	}
	// After an error the difference waits for the monitor's next pass.
	_ = c.patchTaints(p, node, func(taints []corev1.Taint) []corev1.Taint {
		return withNoExecute(taints, wanted, p.Now())
	})
	c.watched[node.Name] = true
}

func withNoExecute(taints []corev1.Taint, wanted []string, now time.Time) []corev1.Taint {
	var result []corev1.Taint
	for _, t := range taints {
		health := t.Effect == corev1.TaintEffectNoExecute && (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable)
		if !health || slices.Contains(wanted, t.Key) {
			result = append(result, t)
		}
	}
	for _, key := range wanted {
		if !hasTaint(result, key, corev1.TaintEffectNoExecute) {
			result = append(result, newTaint(key, corev1.TaintEffectNoExecute, now))
		}
	}
	return result
}
