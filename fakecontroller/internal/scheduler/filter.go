package scheduler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/workload"
)

// choice is a node with the plan for the volumes of the pod there.
type choice struct {
	node *node
	plan bindingPlan
}

// choose returns the first feasible node, in the order of their number of pods. An exploring
// strategy may choose any node that the real scheduler could choose.
func (s *Scheduler) choose(a *attempt) (choice, bool) {
	if !s.Kernel.Explores() {
		return s.firstFitting(a, s.inQuestion(a, s.cluster.order))
	}
	found := s.sample(a, s.inQuestion(a, s.cluster.listed))
	if len(found) == 0 {
		return choice{}, false
	}
	return found[s.Kernel.Choose(kernel.Suffix, len(found), "node of pod "+a.pod.Name)], true
}

// inQuestion returns the node that the pod names; otherwise all nodes.
func (s *Scheduler) inQuestion(a *attempt, all []*node) []*node {
	if host, ok := a.pod.Spec.NodeSelector[corev1.LabelHostname]; ok {
		return s.cluster.byHostname[host]
	}
	if name, ok := namedNode(a.pod); ok {
		if n := s.cluster.nodes[name]; n != nil && n.object != nil {
			return []*node{n}
		}
		return nil
	}
	return all
}

func (s *Scheduler) firstFitting(a *attempt, nodes []*node) (choice, bool) {
	if len(s.nominations) > 0 {
		nodes = slices.Clone(nodes) // placing a nominated pod reorders the nodes
	}
	for _, n := range nodes {
		if plan, no := s.filter(a, n); no.reason == "" {
			return choice{n, plan}, true
		}
	}
	return choice{}, false
}

// namedNode returns the node that a pod's affinity names, as in pods of DaemonSets.
func namedNode(pod *corev1.Pod) (string, bool) {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return "", false
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return "", false
	}
	for _, field := range required.NodeSelectorTerms[0].MatchFields {
		if field.Key == "metadata.name" && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
			return field.Values[0], true
		}
	}
	return "", false
}

// filter runs the plugins in their order. It includes the pods that are nominated to the node.
func (s *Scheduler) filter(a *attempt, n *node) (plan bindingPlan, no refusal) {
	if len(s.nominations) == 0 {
		return s.runFilters(a, n)
	}
	s.withNominated(a, n, func() { plan, no = s.runFilters(a, n) })
	return plan, no
}

// runFilters returns the refusal of the first plugin that refuses.
func (s *Scheduler) runFilters(a *attempt, n *node) (bindingPlan, refusal) {
	if no := filterNode(a, n); no.reason != "" {
		return bindingPlan{}, no
	}
	if diskInUse(a, n) {
		return bindingPlan{}, refusal{volumeRestrictions, "node(s) had no available disk", false}
	}
	if slices.ContainsFunc(a.exclusive, s.cluster.inUse) { // C-SCHED-50
		return bindingPlan{}, refusal{volumeRestrictions, "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod", false}
	}
	if s.exceedsLimit(a, n) { // C-SCHED-20
		return bindingPlan{}, refusal{nodeVolumeLimits, "node(s) exceed max volume count", false}
	}
	if driver := s.missingDriver(a, n); driver != "" {
		return bindingPlan{}, refusal{nodeVolumeLimits, driver + " CSI driver is not installed on the node", false}
	}
	plan, no := s.filterVolumes(a, n)
	if no.reason != "" {
		return bindingPlan{}, no
	}
	if no := filterZone(a, n); no.reason != "" {
		return bindingPlan{}, no
	}
	if no := s.filterSpread(a, n); no.reason != "" {
		return bindingPlan{}, no
	}
	return plan, s.filterNeighbours(a, n)
}

// filterNode checks the pod against the Node object.
func filterNode(a *attempt, n *node) refusal {
	if n.object.Spec.Unschedulable && !workload.Tolerates(a.pod, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return refusal{nodeUnschedulable, "node(s) were unschedulable", true}
	}
	for i := range n.object.Spec.Taints {
		taint := &n.object.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !workload.Tolerates(a.pod, taint) {
			return refusal{taintToleration, fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value), true}
		}
	}
	if a.affinity != nil {
		if match, err := a.affinity.Match(n.object); err != nil || !match {
			return refusal{nodeAffinity, "node(s) didn't match Pod's node affinity/selector", true}
		}
	}
	if portsTaken(a, n) {
		return refusal{nodePorts, "node(s) didn't have free ports for the requested pod ports", false}
	}
	return filterResources(a, n)
}

func maxPods(n *corev1.Node) int64 {
	if limit, ok := n.Status.Allocatable[corev1.ResourcePods]; ok {
		return limit.Value()
	}
	return defaultMaxPods
}

// zoneLabels are the topology labels that in-tree plugins put on volumes.
var zoneLabels = []string{
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
}

// generalKey is the present name of a topology label.
var generalKey = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
}

// filterZone: C-SCHED-40
func filterZone(a *attempt, n *node) refusal {
	for _, claim := range a.bound {
		pv := a.fixedVolume[claim.Spec.VolumeName]
		if pv != nil && !inZone(pv, n.object.Labels) {
			return refusal{volumeZone, "node(s) had no available volume zone", true}
		}
	}
	return refusal{}
}

func inZone(pv *corev1.PersistentVolume, node map[string]string) bool {
	anyLabel := false
	for _, key := range zoneLabels {
		_, ok := node[key]
		anyLabel = anyLabel || ok
	}
	for _, key := range zoneLabels {
		zones, ok := pv.Labels[key]
		if !ok || !anyLabel {
			continue
		}
		value, ok := node[key]
		if !ok {
			value = node[generalKey[key]]
		}
		if !zoneSet(zones)[value] {
			return false
		}
	}
	return true
}

// fitsAffinity reports whether a volume can be used on a node.
func fitsAffinity(pv *corev1.PersistentVolume, n *node) bool {
	return storagevolume.CheckNodeAffinity(asCSIOn(n, pv), n.object.Labels) == nil
}

// zoneSet splits the value of a volume's zone label.
func zoneSet(zones string) map[string]bool {
	set := map[string]bool{}
	for zone := range strings.SplitSeq(zones, "__") {
		set[zone] = true
	}
	return set
}
