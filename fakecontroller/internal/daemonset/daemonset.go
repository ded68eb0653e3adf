// Package daemonset is the DaemonSet controller of the kube-controller-manager. It keeps one pod of
// a set on every eligible node. It does not adopt orphaned pods.
package daemonset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workload/informers"
	"github.com/csisim/csisim/internal/world/workqueue"
)

var kind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

// Controller is a running DaemonSet controller.
type Controller struct {
	*component.Component
	sets     *workqueue.Queue[store.Key]
	expected *workload.Expectations
	failed   backoffs
}

// Start runs the DaemonSet controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("daemonset-controller", ""), expected: workload.NewExpectations(), failed: backoffs{}}
	c.sets = workqueue.New("sets", workqueue.Workers(2), c.Go, c.sync)
	c.Inform(component.Informers{
		First: "the first set", News: "changes of sets, their pods and nodes",
		Sources: append(informers.Owners[*appsv1.DaemonSet](kind.Kind, c.sets, c.expected), component.OnAny[*corev1.Node](c.nodesChanged)),
	})
	return c
}

func (c *Controller) nodesChanged() {
	for set := range store.List[*appsv1.DaemonSet](c.Cache, "") {
		c.sets.Add(store.KeyOf(set))
	}
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	set, ok := component.Cached[*appsv1.DaemonSet](c.Component, key)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	old, err := c.record(p, set)
	if err != nil {
		return err
	}
	pods := c.podsOf(set)
	if c.expected.Met(set.UID) {
		if err := c.place(p, set, pods); err != nil {
			return err
		}
		if err := c.roll(p, set, c.podsOf(set)); err != nil {
			return err
		}
		pods = c.podsOf(set)
	}
	if err := c.forget(p, set, old, pods); err != nil {
		return err
	}
	return c.writeStatus(p, set, pods)
}

// podsOf returns the pods of a set by their current or intended node.
func (c *Controller) podsOf(set *appsv1.DaemonSet) map[string][]*corev1.Pod {
	pods := map[string][]*corev1.Pod{}
	for pod := range store.Indexed[*corev1.Pod](c.Cache, store.OwnerUID, string(set.UID)) {
		if metav1.IsControlledBy(pod, set) {
			pods[nodeOf(pod)] = append(pods[nodeOf(pod)], pod)
		}
	}
	return pods
}

func (c *Controller) add(p *kernel.Process, set *appsv1.DaemonSet, node string) error {
	made, err := component.Create(p, c.Component, podFor(set, node))
	if err != nil {
		c.Event(set, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
		return fmt.Errorf("pod on node %s: %w", node, err)
	}
	c.expected.Made(set.UID, made)
	c.Event(set, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %s", made.Name)
	return nil
}

func (c *Controller) end(p *kernel.Process, set *appsv1.DaemonSet, pod *corev1.Pod) error {
	c.expected.Ended(set.UID, pod)
	if _, err := component.Delete[*corev1.Pod](p, c.Component, store.KeyOf(pod), store.PreconditionUID(pod.UID)); err != nil {
		c.expected.Saw(set.UID, pod, true)
		return err
	}
	c.Event(set, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %s", pod.Name)
	return nil
}
