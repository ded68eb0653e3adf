package scheduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// nomination is a node that was freed for a pod, and this pod. For pods of lower priority the
// nominated pod already counts on the node.
type nomination struct {
	pod  *corev1.Pod
	node string
}

func (s *Scheduler) nominate(pod *corev1.Pod, node string) {
	s.nominations[store.KeyOf(pod)] = &nomination{pod, node}
}

// withNominated runs a function with the nominated pods placed on a node. It leaves out pods of
// lower priority than the attempt's.
func (s *Scheduler) withNominated(a *attempt, n *node, do func()) {
	var placed []*corev1.Pod
	for _, key := range slices.SortedFunc(maps.Keys(s.nominations), compareKeys) {
		of := s.nominations[key]
		if of.node == n.name && of.pod.UID != a.pod.UID && priorityOf(of.pod) >= priorityOf(a.pod) && !s.cluster.isPlaced(of.pod) {
			s.cluster.place(of.pod, n.name)
			placed = append(placed, of.pod)
		}
	}
	do()
	for _, pod := range placed {
		s.cluster.remove(pod.UID)
	}
}
