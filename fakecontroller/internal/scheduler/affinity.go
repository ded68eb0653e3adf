package scheduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
)

// neighbourTerm is a pod's requirement on the places of some other pods.
type neighbourTerm struct {
	topology   string   // the node label that defines a place
	namespaces []string // of the other pods
	labelled   labels.Selector
	pods       labels.Selector
}

// togetherTerms returns the terms for pods that must be in the same place. Preferred terms are
// ignored.
func togetherTerms(pod *corev1.Pod) []neighbourTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return nil
	}
	return neighbourTerms(pod, pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

// apartTerms returns the terms for pods that must not be in the same place.
func apartTerms(pod *corev1.Pod) []neighbourTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return neighbourTerms(pod, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

func neighbourTerms(pod *corev1.Pod, terms []corev1.PodAffinityTerm) []neighbourTerm {
	var all []neighbourTerm
	for _, t := range terms {
		term := neighbourTerm{topology: t.TopologyKey, namespaces: t.Namespaces, labelled: selectorOf(t.NamespaceSelector), pods: selectorOf(t.LabelSelector)}
		if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
			term.namespaces = []string{pod.Namespace}
		}
		all = append(all, term)
	}
	return all
}

// selectorOf returns a selector; without a label selector it selects nothing.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil { // the API rejects such a selector
		return labels.Nothing()
	}
	return selector
}

func (s *Scheduler) selects(t neighbourTerm, pod *corev1.Pod) bool {
	return t.pods.Matches(labels.Set(pod.Labels)) && (slices.Contains(t.namespaces, pod.Namespace) || t.labelled.Matches(s.labelsOf(pod.Namespace)))
}

func (s *Scheduler) labelsOf(namespace string) labels.Set {
	object, ok := component.Cached[*corev1.Namespace](s.Component, store.Key{Name: namespace})
	if !ok {
		return nil
	}
	return object.Labels
}

func (s *Scheduler) selectAll(terms []neighbourTerm, pod *corev1.Pod) bool {
	return !slices.ContainsFunc(terms, func(t neighbourTerm) bool { return !s.selects(t, pod) })
}

// domain is a group of nodes with the same value of a label.
type domain struct{ label, value string }

// domains is a set of domains.
type domains map[domain]bool

func (d domains) add(t neighbourTerm, n *corev1.Node) {
	if value, ok := n.Labels[t.topology]; ok {
		d[domain{t.topology, value}] = true
	}
}

// neighbourhood holds the domains with pods that are relevant for a pod to schedule.
type neighbourhood struct {
	changes  int     // number of changes of the cluster that are counted
	together domains // domains with pods that match all of its terms
	apart    domains // domains with a pod from which it must stay apart
	closed   domains // domains with a pod that excludes this one
}

// neighbours examines all pods on nodes, once for each state of the cluster.
func (s *Scheduler) neighbours(a *attempt) *neighbourhood {
	if a.neighbours != nil && a.neighbours.changes == s.cluster.changes {
		return a.neighbours
	}
	h := &neighbourhood{changes: s.cluster.changes, together: domains{}, apart: domains{}, closed: domains{}}
	// In any order: they go into sets.
	for _, p := range s.cluster.placed {
		if p.node.object != nil {
			s.count(h, a, p)
		}
	}
	a.neighbours = h
	return h
}

func (s *Scheduler) count(h *neighbourhood, a *attempt, p *placement) {
	if len(a.together) > 0 && s.selectAll(a.together, p.pod) {
		for _, t := range a.together {
			h.together.add(t, p.node.object)
		}
	}
	for _, t := range a.apart {
		if s.selects(t, p.pod) {
			h.apart.add(t, p.node.object)
		}
	}
	for _, t := range p.apart {
		if s.selects(t, a.pod) {
			h.closed.add(t, p.node.object)
		}
	}
}

// filterNeighbours checks pod affinity and anti-affinity. [plugins/interpodaffinity Filter]
func (s *Scheduler) filterNeighbours(a *attempt, n *node) refusal {
	if len(a.together)+len(a.apart)+s.cluster.apart == 0 {
		return refusal{}
	}
	h := s.neighbours(a)
	switch {
	case !s.isTogether(a, h, n.object):
		return refusal{interPodAffinity, "node(s) didn't match pod affinity rules", true}
	case slices.ContainsFunc(a.apart, func(t neighbourTerm) bool { return h.apart[domainOf(t, n.object)] }):
		return refusal{interPodAffinity, "node(s) didn't match pod anti-affinity rules", false}
	case h.closedTo(n.object):
		return refusal{interPodAffinity, "node(s) didn't satisfy existing pods anti-affinity rules", false}
	}
	return refusal{}
}

// isTogether reports whether the node has the pods that the affinity requires. The first pod of a
// group with affinity to itself may use any node with the labels.
func (s *Scheduler) isTogether(a *attempt, h *neighbourhood, n *corev1.Node) bool {
	there := true
	for _, t := range a.together {
		if _, ok := n.Labels[t.topology]; !ok {
			return false
		}
		there = there && h.together[domainOf(t, n)]
	}
	return there || len(h.together) == 0 && s.selectAll(a.together, a.pod)
}

// closedTo reports whether an existing pod excludes the new pod from a node.
func (h *neighbourhood) closedTo(n *corev1.Node) bool {
	// In any order: one match is enough.
	for d := range h.closed {
		if value, ok := n.Labels[d.label]; ok && value == d.value {
			return true
		}
	}
	return false
}

// domainOf returns the domain of a node. If the node lacks the label, it returns the empty domain,
// and no set contains it.
func domainOf(t neighbourTerm, n *corev1.Node) domain {
	value, ok := n.Labels[t.topology]
	if !ok {
		return domain{}
	}
	return domain{t.topology, value}
}
