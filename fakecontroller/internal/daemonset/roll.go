package daemonset

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// roll replaces pods with an older template by ending them. If the set surges, it creates their
// replacements first. [pkg/controller/daemon/update.go rollingUpdate]
func (c *Controller) roll(p *kernel.Process, set *appsv1.DaemonSet, pods map[string][]*corev1.Pod) error {
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType || !c.expected.Met(set.UID) {
		return nil
	}
	wanted := 0
	for node := range store.List[*corev1.Node](c.Cache, "") {
		if runs, _ := fits(set, node); runs {
			wanted++
			if _, has := pods[node.Name]; !has {
				pods[node.Name] = nil // a node without pods also counts
			}
		}
	}
	var ending []*corev1.Pod
	var nodes []string
	if surge := maxSurge(set, wanted); surge == 0 {
		ending = c.outdated(set, pods, max(maxUnavailable(set, wanted), 1))
	} else {
		nodes, ending = c.surge(set, pods, surge, wanted)
	}
	for _, node := range nodes {
		if err := c.add(p, set, node); err != nil {
			return err
		}
	}
	for _, pod := range ending {
		if err := c.end(p, set, pod); err != nil {
			return err
		}
	}
	return nil
}

// pair returns the pods of the new and of the old template on a node; false if either has several.
func pair(set *appsv1.DaemonSet, here []*corev1.Pod) (fresh, old *corev1.Pod, ok bool) {
	for _, pod := range here {
		switch updated := isUpdated(set, pod); {
		case leaves(pod):
		case updated && fresh == nil:
			fresh = pod
		case !updated && old == nil:
			old = pod
		default:
			return nil, nil, false
		}
	}
	return fresh, old, true
}

// outdated returns the pods to end for an update, without exceeding the number of pods that may be
// missing.
func (c *Controller) outdated(set *appsv1.DaemonSet, pods map[string][]*corev1.Pod, unavailable int) (ending []*corev1.Pod) {
	var candidates []*corev1.Pod
	missing := 0
	for _, node := range slices.Sorted(maps.Keys(pods)) {
		fresh, old, ok := pair(set, pods[node])
		switch {
		case !ok, (fresh == nil) == (old == nil):
			missing++
		case fresh != nil:
			if c.availableIn(set, fresh) != 0 {
				missing++
			}
		case c.availableIn(set, old) != 0:
			ending = append(ending, old)
			missing++
		case missing < unavailable:
			candidates = append(candidates, old)
		}
	}
	return append(ending, candidates[:min(max(0, unavailable-missing), len(candidates))]...)
}

// surge returns the nodes that get a second pod, and the old pods that are no longer needed.
func (c *Controller) surge(set *appsv1.DaemonSet, pods map[string][]*corev1.Pod, most, wanted int) (nodes []string, ending []*corev1.Pod) {
	var candidates []string
	var misplaced []*corev1.Pod
	surging, available := 0, 0
	for _, node := range slices.Sorted(maps.Keys(pods)) {
		fresh, old, ok := pair(set, pods[node])
		if !ok {
			surging++
			continue
		}
		if counts := cmp.Or(old, fresh); counts != nil && c.availableIn(set, counts) == 0 {
			available++
		}
		switch {
		case old == nil:
		case fresh != nil && c.availableIn(set, fresh) != 0:
			surging++
		case fresh != nil:
			ending = append(ending, old)
		case c.availableIn(set, old) != 0 && !c.runsOn(set, node):
			ending = append(ending, old)
		case c.availableIn(set, old) != 0:
			nodes = append(nodes, node)
		case !c.runsOn(set, node):
			misplaced = append(misplaced, old)
		case surging < most:
			candidates = append(candidates, node)
		}
	}
	ending = append(ending, misplaced[:min(max(0, available-wanted), len(misplaced))]...)
	return append(nodes, candidates[:min(max(0, most-surging), len(candidates))]...), ending
}

func (c *Controller) runsOn(set *appsv1.DaemonSet, name string) bool {
	node, ok := component.Cached[*corev1.Node](c.Component, store.Key{Name: name})
	if !ok {
		return false
	}
	runs, _ := fits(set, node)
	return runs
}

// surges reports whether an update creates new pods before it ends the old ones.
func surges(set *appsv1.DaemonSet) bool { return maxSurge(set, 1) > 0 }

// maxSurge returns the number of nodes that may have a second pod during an update.
func maxSurge(set *appsv1.DaemonSet, wanted int) int {
	return scaled(set, wanted, func(r *appsv1.RollingUpdateDaemonSet) *intstr.IntOrString { return r.MaxSurge })
}

// maxUnavailable bounds the number of a set's pods that may be missing during an update.
func maxUnavailable(set *appsv1.DaemonSet, wanted int) int {
	return scaled(set, wanted, func(r *appsv1.RollingUpdateDaemonSet) *intstr.IntOrString { return r.MaxUnavailable })
}

func scaled(set *appsv1.DaemonSet, wanted int, field func(*appsv1.RollingUpdateDaemonSet) *intstr.IntOrString) int {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || field(rolling) == nil || set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(field(rolling), wanted, true)
	if err != nil {
		return 0 // validation has rejected such a value
	}
	return n
}
