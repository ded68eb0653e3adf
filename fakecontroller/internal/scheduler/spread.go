package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/world/workload"
)

// spreadTerm is a topologySpreadConstraint that a node must keep. C-SCHED-61
type spreadTerm struct {
	topology            string // the node label that defines a domain
	maxSkew, minDomains int
	pods                labels.Selector
	self                int  // 1 if the pod matches its own selector
	anyNode             bool // nodes that the pod's affinity excludes also count
	untainted           bool // nodes count only if the pod tolerates their taints
}

// spreadTerms returns the constraints of a pod with DoNotSchedule. The others only score nodes.
func spreadTerms(pod *corev1.Pod) (terms []spreadTerm) {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		t := spreadTerm{
			topology: c.TopologyKey, maxSkew: int(c.MaxSkew), minDomains: int(ptr.Deref(c.MinDomains, 1)), pods: selectorOf(c.LabelSelector),
			anyNode:   ptr.Deref(c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyIgnore,
			untainted: ptr.Deref(c.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == corev1.NodeInclusionPolicyHonor,
		}
		for _, key := range c.MatchLabelKeys {
			if value, ok := pod.Labels[key]; ok {
				more, _ := labels.SelectorFromSet(labels.Set{key: value}).Requirements()
				t.pods = t.pods.Add(more...)
			}
		}
		if t.pods.Matches(labels.Set(pod.Labels)) {
			t.self = 1
		}
		terms = append(terms, t)
	}
	return terms
}

// spread holds the number of pods per domain, for each term.
type spread struct {
	changes int // the cluster's count of changes at the time of the count
	counts  []map[string]int
}

// spreadOf counts the pods of an attempt's terms. It counts again only after a change of the
// cluster.
func (s *Scheduler) spreadOf(a *attempt) *spread {
	if a.spread != nil && a.spread.changes == s.cluster.changes {
		return a.spread
	}
	a.spread = &spread{changes: s.cluster.changes, counts: make([]map[string]int, len(a.spreads))}
	for i := range a.spreads {
		a.spread.counts[i] = map[string]int{}
	}
	for _, n := range s.cluster.nodes { // any order: sums
		if n.object == nil || !hasDomains(a.spreads, n.object) {
			continue
		}
		for i, t := range a.spreads {
			if t.includes(a, n.object) {
				a.spread.counts[i][n.object.Labels[t.topology]] += t.countOn(a, n)
			}
		}
	}
	return a.spread
}

// hasDomains reports whether a node has the labels of all terms. Other nodes are ignored.
func hasDomains(terms []spreadTerm, n *corev1.Node) bool {
	for _, t := range terms {
		if _, ok := n.Labels[t.topology]; !ok {
			return false
		}
	}
	return true
}

func (t spreadTerm) includes(a *attempt, n *corev1.Node) bool {
	if !t.anyNode && a.affinity != nil {
		if match, err := a.affinity.Match(n); err != nil || !match {
			return false
		}
	}
	for i := range n.Spec.Taints {
		if taint := &n.Spec.Taints[i]; t.untainted && taint.Effect != corev1.TaintEffectPreferNoSchedule && !workload.Tolerates(a.pod, taint) {
			return false
		}
	}
	return true
}

func (t spreadTerm) countOn(a *attempt, n *node) (count int) {
	for _, p := range n.pods { // any order: a sum
		if p.pod.DeletionTimestamp == nil && p.pod.Namespace == a.pod.Namespace && t.pods.Matches(labels.Set(p.pod.Labels)) {
			count++
		}
	}
	return count
}

// filterSpread checks that the pod makes no domain too full.
// [plugins/podtopologyspread/filtering.go Filter] C-SCHED-61
func (s *Scheduler) filterSpread(a *attempt, n *node) refusal {
	const unkept = "node(s) didn't match pod topology spread constraints"
	if len(a.spreads) == 0 {
		return refusal{}
	}
	counts := s.spreadOf(a).counts
	for i, t := range a.spreads {
		value, ok := n.object.Labels[t.topology]
		if !ok {
			return refusal{podTopologySpread, unkept + " (missing required label)", true}
		}
		if counts[i][value]+t.self-t.least(counts[i]) > t.maxSkew {
			return refusal{podTopologySpread, unkept, false}
		}
	}
	return refusal{}
}

// least returns the smallest number of pods in a domain; 0 if there are too few domains.
func (t spreadTerm) least(counts map[string]int) int {
	if len(counts) < t.minDomains {
		return 0
	}
	least := -1
	for _, count := range counts { // any order: a minimum
		if least < 0 || count < least {
			least = count
		}
	}
	return max(least, 0)
}

// portsTaken reports whether a pod on the node uses a host port that the pod requests. C-SCHED-62
func portsTaken(a *attempt, n *node) bool {
	for _, wanted := range a.ports {
		for _, p := range n.pods { // any order will do: one match is enough
			for _, taken := range workload.HostPorts(p.pod) {
				if wanted.Conflicts(taken) {
					return true
				}
			}
		}
	}
	return false
}
