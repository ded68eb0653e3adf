package fakekubelet

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/csisim/csisim/internal/world/workload"
)

// need is the amount of a resource that has to be freed on a node.
type need struct {
	resource corev1.ResourceName
	amount   int64
}

// preemptFor ends pods of the node until a critical pod has the missing resources. It rejects the
// pod if no pods can be ended for it. K-ADM-4
func (m *podManager) preemptFor(pod *corev1.Pod, lacks []lack) rejection {
	var needs []need
	for _, l := range lacks {
		needs = append(needs, need{l.resource, l.requested - (l.capacity - l.used)})
	}
	victims, left := m.victims(pod, needs)
	if len(left) > 0 {
		return rejection{"UnexpectedAdmissionError", "Unexpected error while attempting to recover from admission failure: " +
			"preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: " + describe(left)}
	}
	const message = "Preempted in order to admit critical pod"
	for _, w := range victims {
		m.Event(w.pod, corev1.EventTypeWarning, "Preempting", message)
		w.evict(eviction{reason: "Preempting", message: message, condition: "Pod was preempted by Kubelet to accommodate a critical pod."})
	}
	return rejection{}
}

func describe(needs []need) string {
	var text strings.Builder
	for _, n := range needs {
		fmt.Fprintf(&text, "(res: %v, q: %d), ", n.resource, n.amount)
	}
	return "[" + text.String() + "]"
}

// victims chooses pods in three quality-of-service classes. From each class it takes as few pods as
// necessary after the end of all pods in lower classes. It also returns the amount that is still
// missing after the end of all chosen pods.
func (m *podManager) victims(pod *corev1.Pod, needs []need) (chosen []*podWorker, left []need) {
	classes := map[corev1.PodQOSClass][]*podWorker{}
	for _, w := range m.inOrder() {
		if !w.stopped && !w.terminating && preemptable(pod, w.pod) {
			class := w.pod.Status.QOSClass
			classes[class] = append(classes[class], w)
		}
	}
	best, burst, guaranteed := classes[corev1.PodQOSBestEffort], classes[corev1.PodQOSBurstable], classes[corev1.PodQOSGuaranteed]
	if left := without(needs, best, burst, guaranteed); len(left) > 0 {
		return nil, left
	}
	guaranteed = nearest(guaranteed, without(needs, best, burst))
	burst = nearest(burst, without(needs, best, guaranteed))
	best = nearest(best, without(needs, burst, guaranteed))
	return append(append(best, burst...), guaranteed...), nil
}

func preemptable(preemptor, victim *corev1.Pod) bool {
	if isCritical(preemptor) && !isCritical(victim) {
		return true
	}
	return preemptor.Spec.Priority != nil && victim.Spec.Priority != nil && *preemptor.Spec.Priority > *victim.Spec.Priority
}

// without returns the needs that remain after the end of pods.
func without(needs []need, ending ...[]*podWorker) (left []need) {
	for _, n := range needs {
		for _, pods := range ending {
			for _, w := range pods {
				n.amount -= w.requests(n.resource)
			}
		}
		if n.amount > 0 {
			left = append(left, n)
		}
	}
	return left
}

// requests returns the amount of a resource that the end of the pod frees.
func (w *podWorker) requests(name corev1.ResourceName) int64 {
	if name == corev1.ResourcePods {
		return 1
	}
	return workload.AmountOf(name, resourcehelper.PodRequests(w.sized(), resourcehelper.PodResourcesOptions{})[name])
}

// nearest chooses pods one after the other. It takes the pod that leaves the smallest need; if
// several leave the same need, it takes the smaller pod.
func nearest(pods []*podWorker, needs []need) (chosen []*podWorker) {
	pods = append([]*podWorker(nil), pods...)
	for len(needs) > 0 {
		best := 0
		for i := range pods {
			d, least := distance(needs, pods[i]), distance(needs, pods[best])
			if d < least || d == least && smaller(pods[i], pods[best]) {
				best = i
			}
		}
		chosen = append(chosen, pods[best])
		needs = without(needs, pods[best:best+1])
		pods[best] = pods[len(pods)-1]
		pods = pods[:len(pods)-1]
	}
	return chosen
}

// distance measures the amount that would still be missing after the end of a pod.
func distance(needs []need, w *podWorker) (sum float64) {
	for _, n := range needs {
		if rest := float64(n.amount - w.requests(n.resource)); rest > 0 {
			sum += rest * rest / (float64(n.amount) * float64(n.amount))
		}
	}
	return sum
}

func smaller(a, b *podWorker) bool {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU} {
		if x, y := a.requests(name), b.requests(name); x != y {
			return x < y
		}
	}
	return false
}
