// Package replicaset is the ReplicaSet controller of the kube-controller-manager. It keeps the
// number of pods that the spec of a set requests. It does not adopt orphaned pods.
package replicaset

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workload/informers"
	"github.com/csisim/csisim/internal/world/workqueue"
)

var kind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// Controller is a running ReplicaSet controller.
type Controller struct {
	*component.Component
	sets     *workqueue.Queue[store.Key]
	expected *workload.Expectations
}

// Start runs the ReplicaSet controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("replicaset-controller", ""), expected: workload.NewExpectations()}
	c.sets = workqueue.New("sets", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		First: "the first set", News: "changes of sets and their pods",
		Sources: informers.Owners[*appsv1.ReplicaSet](kind.Kind, c.sets, c.expected),
	})
	return c
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	set, ok := component.Cached[*appsv1.ReplicaSet](c.Component, key)
	if !ok {
		return nil
	}
	pods := c.podsOf(set)
	if c.expected.Met(set.UID) && set.DeletionTimestamp == nil {
		if err := c.scale(p, set, pods); err != nil {
			return err
		}
	}
	return c.writeStatus(p, set, pods)
}

// podsOf returns the pods of a set that have not ended and are not being deleted.
func (c *Controller) podsOf(set *appsv1.ReplicaSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for pod := range store.Indexed[*corev1.Pod](c.Cache, store.OwnerUID, string(set.UID)) {
		if metav1.IsControlledBy(pod, set) && pod.DeletionTimestamp == nil && !workload.Ended(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// scale creates missing pods and deletes surplus ones.
func (c *Controller) scale(p *kernel.Process, set *appsv1.ReplicaSet, pods []*corev1.Pod) error {
	missing := int(*set.Spec.Replicas) - len(pods)
	for range missing {
		made, err := component.Create(p, c.Component, workload.Pod(set, kind, &set.Spec.Template))
		if err != nil {
			c.Event(set, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
			return err
		}
		c.expected.Made(set.UID, made)
		c.Event(set, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %s", made.Name)
	}
	if missing >= 0 {
		return nil
	}
	slices.SortStableFunc(pods, firstToEnd)
	for _, pod := range pods[:-missing] {
		c.expected.Ended(set.UID, pod)
		if _, err := component.Delete[*corev1.Pod](p, c.Component, store.KeyOf(pod), store.PreconditionUID(pod.UID)); err != nil {
			c.expected.Saw(set.UID, pod, true)
			c.Event(set, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
			return err
		}
		c.Event(set, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %s", pod.Name)
	}
	return nil
}

// firstToEnd compares pods in the order of deletion: first pods that have progressed less, then
// younger pods.
func firstToEnd(a, b *corev1.Pod) int {
	return cmp.Or(
		compare(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		compare(a.Status.Phase == corev1.PodRunning, b.Status.Phase == corev1.PodRunning),
		compare(workload.Ready(a), workload.Ready(b)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
	)
}

func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (c *Controller) writeStatus(p *kernel.Process, set *appsv1.ReplicaSet, pods []*corev1.Pod) error {
	status := appsv1.ReplicaSetStatus{ObservedGeneration: set.Generation, Conditions: set.Status.Conditions}
	for _, pod := range pods {
		status.Replicas++
		status.FullyLabeledReplicas++
		if workload.Ready(pod) {
			status.ReadyReplicas++
		}
		switch in := workload.AvailableIn(pod, set.Spec.MinReadySeconds, c.Kernel.Now()); {
		case in == 0:
			status.AvailableReplicas++
		case in > 0:
			c.sets.AddAfter(store.KeyOf(set), in)
		}
	}
	if equality.Semantic.DeepEqual(status, set.Status) {
		return nil
	}
	changed := set.DeepCopy()
	changed.Status = status
	_, err := component.UpdateStatus(p, c.Component, changed)
	return err
}
