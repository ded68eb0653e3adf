package daemonset

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// place creates missing pods on nodes, and ends superfluous pods.
func (c *Controller) place(p *kernel.Process, set *appsv1.DaemonSet, pods map[string][]*corev1.Pod) error {
	for node := range store.List[*corev1.Node](c.Cache, "") {
		lacks, surplus := c.manage(set, node, pods[node.Name])
		if lacks {
			if err := c.add(p, set, node.Name); err != nil {
				return err
			}
		}
		for _, pod := range surplus {
			if err := c.end(p, set, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// manage decides about the pods of one node: whether the node needs another pod, and which pods
// end. [pkg/controller/daemon podsShouldBeOnNode]
func (c *Controller) manage(set *appsv1.DaemonSet, node *corev1.Node, here []*corev1.Pod) (lacks bool, surplus []*corev1.Pod) {
	runs, stays := fits(set, node)
	switch {
	case runs && len(here) == 0:
		return true, nil
	case !stays:
		return false, slices.DeleteFunc(slices.Clone(here), leaves)
	}
	running, surplus := c.sort(set, node.Name, here)
	switch {
	case len(running) == 0:
		return surges(set) && runs, surplus
	case surges(set):
		return false, append(surplus, c.superseded(set, running)...)
	}
	return false, append(surplus, running[1:]...)
}

// sort returns the pods of a node that run or will run, the oldest first, and the finished pods
// that must be deleted now.
func (c *Controller) sort(set *appsv1.DaemonSet, node string, here []*corev1.Pod) (running, ended []*corev1.Pod) {
	for _, pod := range here {
		switch {
		case leaves(pod):
		case pod.Status.Phase == corev1.PodFailed:
			if rest := c.failed.rest(set, node, c.Kernel.Now()); rest > 0 {
				c.sets.AddAfter(store.KeyOf(set), rest)
				continue
			}
			c.failed.next(set, node, c.Kernel.Now())
			c.Event(set, corev1.EventTypeWarning, "FailedDaemonPod", "Found failed daemon pod %s/%s on node %s, will try to kill it", pod.Namespace, pod.Name, node)
			ended = append(ended, pod)
		case pod.Status.Phase == corev1.PodSucceeded:
			c.Event(set, corev1.EventTypeNormal, "SucceededDaemonPod", "Found succeeded daemon pod %s/%s on node %s, will try to delete it", pod.Namespace, pod.Name, node)
			ended = append(ended, pod)
		default:
			running = append(running, pod)
		}
	}
	slices.SortStableFunc(running, oldestFirst)
	return running, ended
}

// superseded returns the surplus pods of a node during a surge. One pod with the old template and
// one with the new template may run there. The old pod is also surplus if it is not ready or the
// new one is available.
func (c *Controller) superseded(set *appsv1.DaemonSet, running []*corev1.Pod) (surplus []*corev1.Pod) {
	var old, fresh *corev1.Pod
	for _, pod := range running {
		switch updated := isUpdated(set, pod); {
		case updated && fresh == nil:
			fresh = pod
		case !updated && old == nil:
			old = pod
		default:
			surplus = append(surplus, pod)
		}
	}
	if old != nil && fresh != nil && (!workload.Holds(old, corev1.PodReady) || c.availableIn(set, fresh) == 0) {
		surplus = append(surplus, old)
	}
	return surplus
}

func leaves(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }

func oldestFirst(a, b *corev1.Pod) int {
	return cmp.Or(compareBools(a.Spec.NodeName == "", b.Spec.NodeName == ""), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func isUpdated(set *appsv1.DaemonSet, pod *corev1.Pod) bool {
	return pod.Labels[appsv1.ControllerRevisionHashLabelKey] == workload.Hash(&set.Spec.Template)
}

// availableIn returns how long a pod must stay ready until it counts as available. It returns 0 if
// the pod is already available, and a negative time if the pod is not ready.
func (c *Controller) availableIn(set *appsv1.DaemonSet, pod *corev1.Pod) time.Duration {
	return workload.AvailableIn(pod, set.Spec.MinReadySeconds, c.Kernel.Now())
}
