// Package statefulset is the StatefulSet controller of the kube-controller-manager. It creates the
// pods of a set in order, each with its own claims, and deletes them in reverse order. It omits
// maxUnavailable, because the gate of that field is off.
package statefulset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Controller is a running StatefulSet controller.
type Controller struct {
	*component.Component
	sets *workqueue.Queue[store.Key]
}

// Start runs the StatefulSet controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("statefulset-controller", "")}
	c.sets = workqueue.New("sets", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of sets and their pods",
		Sources: []component.Source{
			component.On(func(e store.Event[*appsv1.StatefulSet]) { c.sets.Add(store.KeyOf(e.Object)) }),
			component.On(func(e store.Event[*corev1.Pod]) {
				if set, _, ok := workload.Owner(e.Object, "StatefulSet"); ok {
					c.sets.Add(set)
				}
			}),
			component.OnAny[*corev1.PersistentVolumeClaim](nil),
			component.OnAny[*appsv1.ControllerRevision](nil),
		},
	})
	return c
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	set, ok := component.Cached[*appsv1.StatefulSet](c.Component, key)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	revisions, err := c.revisionsOf(p, set)
	if err != nil {
		return err
	}
	pods := c.podsOf(set)
	if err := c.step(p, set, revisions, pods); err != nil {
		return err
	}
	if next := c.nextAvailable(set, pods); next > 0 {
		c.sets.AddAfter(key, next)
	}
	return c.writeStatus(p, set, revisions, pods)
}

// podsOf returns the pods of a set by ordinal.
func (c *Controller) podsOf(set *appsv1.StatefulSet) map[int]*corev1.Pod {
	pods := map[int]*corev1.Pod{}
	for pod := range store.Indexed[*corev1.Pod](c.Cache, store.OwnerUID, string(set.UID)) {
		if n, ok := ordinalOf(set, pod); ok && metav1.IsControlledBy(pod, set) {
			pods[n] = pod
		}
	}
	return pods
}

// step makes the changes that are possible now. A set with the policy OrderedReady changes one pod
// at a time. It continues when this pod has reached its desired state.
func (c *Controller) step(p *kernel.Process, set *appsv1.StatefulSet, r revisions, pods map[int]*corev1.Pod) error {
	ordered := set.Spec.PodManagementPolicy == appsv1.OrderedReadyPodManagement
	for _, n := range wanted(set) {
		if stop, err := c.keep(p, set, r, n, pods[n]); err != nil || stop && ordered {
			return err
		}
	}
	ordinals := sortedDown(pods)
	for _, n := range ordinals {
		if !isWanted(set, n) {
			if _, err := c.ownClaims(p, set, n, pods[n]); err != nil {
				return err
			}
		}
	}
	first := c.firstUnhealthy(set, ordinals, pods)
	for _, n := range ordinals {
		if isWanted(set, n) {
			continue
		}
		pod := pods[n]
		if pod.DeletionTimestamp == nil && (!ordered || c.healthy(set, pod) || pod == first) {
			if err := c.end(p, set, pod); err != nil {
				return err
			}
		}
		if ordered {
			return nil
		}
	}
	return c.roll(p, set, r, pods)
}

// keep creates or updates one desired pod. It reports whether the next pod has to wait.
func (c *Controller) keep(p *kernel.Process, set *appsv1.StatefulSet, r revisions, n int, pod *corev1.Pod) (wait bool, err error) {
	switch {
	case pod == nil && c.hasStaleClaim(set, n):
		return true, nil
	case pod == nil:
		return true, c.add(p, set, r.forNew(set, n), n)
	case pod.DeletionTimestamp != nil:
		return true, nil
	case workload.Ended(pod):
		return true, c.end(p, set, pod)
	}
	if pod.Status.Phase == corev1.PodPending && c.Version.Has(version.ClaimsOfPendingPods) {
		if err := c.addClaims(p, set, n); err != nil {
			return true, err
		}
		if _, err := c.ownClaims(p, set, n, pod); err != nil {
			c.tellPod(set, "Update", pod.Name, err)
			return true, err
		}
	}
	if !c.healthy(set, pod) && set.Spec.PodManagementPolicy == appsv1.OrderedReadyPodManagement {
		return true, nil
	}
	changed, err := c.ownClaims(p, set, n, pod)
	if changed || err != nil {
		c.tellPod(set, "Update", pod.Name, err)
	}
	return err != nil || !c.healthy(set, pod), err
}

// roll replaces one pod of an old revision, beginning with the highest ordinal.
func (c *Controller) roll(p *kernel.Process, set *appsv1.StatefulSet, r revisions, pods map[int]*corev1.Pod) error {
	if !rolls(set) {
		return nil
	}
	for _, n := range slices.Backward(wanted(set)) {
		pod := pods[n]
		if pod == nil || n < firstUpdated(set) {
			return nil
		}
		if revisionOf(pod) != r.update.Name && pod.DeletionTimestamp == nil {
			return c.end(p, set, pod)
		}
		if !c.healthy(set, pod) {
			return nil
		}
	}
	return nil
}
