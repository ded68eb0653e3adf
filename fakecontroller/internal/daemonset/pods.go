package daemonset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	v1helper "k8s.io/component-helpers/scheduling/corev1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// podFor returns the pod for a node. The scheduler assigns the pod to the node.
func podFor(set *appsv1.DaemonSet, node string) *corev1.Pod {
	pod := workload.Pod(set, kind, &set.Spec.Template)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = workload.Hash(&set.Spec.Template)
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
		}}}},
	}
	pod.Spec.Tolerations = tolerations(pod.Spec)
	return pod
}

// tolerations returns the tolerations of a pod, including those that all pods of DaemonSets get.
func tolerations(spec corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(spec.Tolerations)
	add := func(key string, effect corev1.TaintEffect) {
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return all
}

// nodeOf returns the current or intended node of a pod.
func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return pod.Spec.NodeName
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) != 1 || len(required.NodeSelectorTerms[0].MatchFields) != 1 {
		return ""
	}
	return required.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

// fits reports whether a set needs a new pod on a node, and whether an existing pod may stay.
func fits(set *appsv1.DaemonSet, node *corev1.Node) (runs, stays bool) {
	spec := set.Spec.Template.Spec
	if matches, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: spec}).Match(node); err != nil || !matches {
		return false, false
	}
	tolerated := tolerations(spec)
	untolerated := func(effects ...corev1.TaintEffect) bool {
		_, found := v1helper.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, tolerated, func(t *corev1.Taint) bool {
			return slices.Contains(effects, t.Effect)
		}, true)
		return found
	}
	return !untolerated(corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute), !untolerated(corev1.TaintEffectNoExecute)
}

func (c *Controller) writeStatus(p *kernel.Process, set *appsv1.DaemonSet, pods map[string][]*corev1.Pod) error {
	status := appsv1.DaemonSetStatus{ObservedGeneration: set.Generation, Conditions: set.Status.Conditions, CollisionCount: set.Status.CollisionCount}
	hash := workload.Hash(&set.Spec.Template)
	for node := range store.List[*corev1.Node](c.Cache, "") {
		here := pods[node.Name]
		runs, _ := fits(set, node)
		switch {
		case !runs && len(here) > 0:
			status.NumberMisscheduled++
		case runs:
			status.DesiredNumberScheduled++
			if len(here) == 0 {
				continue
			}
			status.CurrentNumberScheduled++
			slices.SortStableFunc(here, oldestFirst)
			if workload.Holds(here[0], corev1.PodReady) {
				status.NumberReady++
			}
			switch in := c.availableIn(set, here[0]); {
			case in == 0:
				status.NumberAvailable++
			case in > 0:
				c.sets.AddAfter(store.KeyOf(set), in)
			}
			if here[0].Labels[appsv1.ControllerRevisionHashLabelKey] == hash {
				status.UpdatedNumberScheduled++
			}
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	if equality.Semantic.DeepEqual(status, set.Status) {
		return nil
	}
	changed := set.DeepCopy()
	changed.Status = status
	_, err := component.UpdateStatus(p, c.Component, changed)
	return err
}
