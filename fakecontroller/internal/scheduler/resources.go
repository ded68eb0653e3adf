package scheduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/csisim/csisim/internal/world/workload"
)

// amounts holds quantities of resources in the scheduler's units.
type amounts map[corev1.ResourceName]int64

// requestsOf returns the resources that a pod requests; nil for none.
func requestsOf(pod *corev1.Pod) amounts {
	if !asksForResources(pod) {
		return nil
	}
	asked := amounts{}
	// In any order: the result is a map.
	for name, q := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
		if n := workload.AmountOf(name, q); n > 0 {
			asked[name] = n
		}
	}
	return asked
}

// asksForResources reports whether any part of a pod names a resource. Most pods do not, and this
// function is called often.
func asksForResources(pod *corev1.Pod) bool {
	names := func(c corev1.Container) bool { return len(c.Resources.Requests) > 0 }
	return slices.ContainsFunc(pod.Spec.Containers, names) || slices.ContainsFunc(pod.Spec.InitContainers, names) ||
		len(pod.Spec.Overhead) > 0 || pod.Spec.Resources != nil
}

// take adds the resources of a pod to those used on the node; give subtracts them.
func (n *node) take(asked amounts) {
	for name, amount := range asked { // any order: sums
		if n.used == nil {
			n.used = amounts{}
		}
		n.used[name] += amount
	}
}

func (n *node) give(asked amounts) {
	for name, amount := range asked { // any order: sums
		n.used[name] -= amount
	}
}

// filterResources rejects a node with too few free resources. If the node's total is too small,
// evictions do not help. [pkg/scheduler/framework/plugins/noderesources/fit.go] C-SCHED-60
func filterResources(a *attempt, n *node) refusal {
	if int64(len(n.pods)) >= maxPods(n.object) {
		return refusal{nodeResources, "Too many pods", false}
	}
	for _, name := range inOrder(a.requests) {
		limit, ok := n.object.Status.Allocatable[name]
		if !ok && len(n.object.Status.Allocatable) == 0 {
			continue // its kubelet has not reported its resources yet
		}
		most := workload.AmountOf(name, limit)
		if wanted := a.requests[name]; wanted > most-n.used[name] {
			return refusal{nodeResources, "Insufficient " + string(name), wanted > most}
		}
	}
	return refusal{}
}

// inOrder sorts resources in the order in which the scheduler checks them.
func inOrder(asked amounts) []corev1.ResourceName {
	if len(asked) == 0 {
		return nil
	}
	first := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(asked)), func(name corev1.ResourceName) bool { return slices.Contains(first, name) })
	return slices.DeleteFunc(append(first, rest...), func(name corev1.ResourceName) bool { return asked[name] == 0 })
}
