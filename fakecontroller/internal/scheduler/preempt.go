package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// candidate is a node where a pod fits after the eviction of some pods of lower priority.
type candidate struct {
	node    *node
	victims []*corev1.Pod // the most important first
}

// preempt makes room for an unschedulable pod: it deletes pods of lower priority and nominates the
// pod to their node. If this cannot help, it returns the reason. C-SCHED-50
func (s *Scheduler) preempt(p *kernel.Process, a *attempt, refusals []refusal) (nominated bool, why string) {
	if why := s.mayNotPreempt(a.pod); why != "" {
		return false, why
	}
	whys := map[string]int{}
	var found []candidate
	for i, n := range slices.Clone(s.cluster.order) {
		if refusals[i].forGood {
			whys["Preemption is not helpful for scheduling"]++
			continue
		}
		victims := s.victimsOn(a, n)
		if victims == nil {
			whys["No preemption victims found for incoming pod"]++
			continue
		}
		found = append(found, candidate{n, victims})
	}
	if len(found) == 0 {
		return false, fmt.Sprintf("0/%d nodes are available: %s.", len(refusals), histogram(whys))
	}
	best := slices.MinFunc(found, compareCandidates)
	for _, victim := range best.victims {
		s.evict(p, a.pod, victim, best.node.name)
	}
	s.nominate(a.pod, best.node.name)
	return true, ""
}

// mayNotPreempt returns the reason why a pod may not preempt others; "" if it may.
func (s *Scheduler) mayNotPreempt(pod *corev1.Pod) string {
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	if n := s.nominations[store.KeyOf(pod)]; n != nil {
		for _, other := range s.lowerOn(pod, s.cluster.node(n.node)) {
			if other.DeletionTimestamp != nil {
				return "not eligible due to a terminating pod on the nominated node."
			}
		}
	}
	return ""
}

// victimsOn returns the pods to evict from a node so that a pod fits there; nil if eviction does
// not help. It removes all pods of lower priority and then restores as many as fit, the most
// important first.
func (s *Scheduler) victimsOn(a *attempt, n *node) []*corev1.Pod {
	lower := s.lowerOn(a.pod, n)
	for _, pod := range lower {
		s.cluster.remove(pod.UID)
	}
	fits := func() bool { _, no := s.filter(a, n); return no.reason == "" }
	var victims []*corev1.Pod
	if len(lower) > 0 && fits() {
		for _, pod := range lower {
			s.cluster.place(pod, n.name)
			if !fits() {
				s.cluster.remove(pod.UID)
				victims = append(victims, pod)
			}
		}
	}
	for _, pod := range lower {
		s.cluster.place(pod, n.name)
	}
	return victims
}

// lowerOn returns the pods on a node with a lower priority than a given pod, the most important
// first: by priority, then by age.
func (s *Scheduler) lowerOn(pod *corev1.Pod, n *node) []*corev1.Pod {
	var lower []*corev1.Pod
	// In any order: they are sorted below.
	for _, on := range n.pods {
		other, ok := component.Cached[*corev1.Pod](s.Component, on.key)
		if ok && other.UID == on.uid && priorityOf(other) < priorityOf(pod) {
			lower = append(lower, other)
		}
	}
	slices.SortFunc(lower, func(a, b *corev1.Pod) int {
		return cmp.Or(-cmp.Compare(priorityOf(a), priorityOf(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), compareKeys(store.KeyOf(a), store.KeyOf(b)))
	})
	return lower
}

// compareCandidates prefers the node with the least important victims: the lowest maximum priority,
// then the lowest sum of priorities, then the fewest victims.
func compareCandidates(a, b candidate) int {
	sum := func(pods []*corev1.Pod) (sum int64) {
		for _, pod := range pods {
			sum += int64(priorityOf(pod))
		}
		return sum
	}
	return cmp.Or(cmp.Compare(priorityOf(a.victims[0]), priorityOf(b.victims[0])), cmp.Compare(sum(a.victims), sum(b.victims)), cmp.Compare(len(a.victims), len(b.victims)))
}

// evict deletes a pod to make room for another. A pod that is already being deleted is not changed.
func (s *Scheduler) evict(p *kernel.Process, preemptor, victim *corev1.Pod, node string) {
	if victim.DeletionTimestamp != nil {
		return
	}
	key := store.KeyOf(victim)
	_, err := component.PatchStatus(p, s.Component, key, func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(p.Now()),
			Reason: corev1.PodReasonPreemptionByScheduler, Message: preemptor.Spec.SchedulerName + ": preempting to accommodate a higher priority pod",
		})
	})
	if err == nil {
		_, err = component.Delete[*corev1.Pod](p, s.Component, key)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return // the next attempt tries again
	}
	s.Report(victim, corev1.EventTypeNormal, "Preempted", "Preempting", fmt.Sprintf("Preempted by pod %s on node %s", preemptor.UID, node))
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
