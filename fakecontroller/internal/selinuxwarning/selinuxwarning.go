// Package selinuxwarning is the SELinux warning controller of the kube-controller-manager. It emits
// events for pods that share a volume and have different SELinux labels, or different policies to
// apply them. The pods need not be on one node yet. It calls no driver and blocks no pod. C-SEL-1
package selinuxwarning

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Name is the controller's name in --controllers of the kube-controller-manager. The controller
// runs only if the flag names it.
const Name = "selinux-warning-controller"

// Controller is a running SELinux warning controller.
type Controller struct {
	*component.Component
	queue *workqueue.Queue[store.Key] // of pods
	uses  uses
}

// Start runs the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("selinux_warning", ""), uses: newUses()}
	c.queue = workqueue.New("pods", workqueue.Default, c.Go, c.sync)
	c.Metrics.Collect(c.collect)
	c.Inform(component.Informers{
		News: "pods that share volumes",
		Sources: []component.Source{
			component.On(c.podChanged), component.On(c.claimChanged), component.On(c.volumeChanged), component.On(c.driverChanged),
		},
	})
	return c
}

// podChanged handles only the end of a pod: its other relevant fields are immutable.
func (c *Controller) podChanged(e store.Event[*corev1.Pod]) {
	if e.Type != store.Modified || e.Old.Status.Phase != e.Object.Status.Phase && hasEnded(e.Object) {
		c.queue.Add(store.KeyOf(e.Object))
	}
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func (c *Controller) claimChanged(e store.Event[*corev1.PersistentVolumeClaim]) {
	if e.Type == store.Added && e.Object.Spec.VolumeName != "" ||
		e.Type == store.Modified && e.Old.Spec.VolumeName != e.Object.Spec.VolumeName {
		c.addUsers(store.KeyOf(e.Object))
	}
}

func (c *Controller) volumeChanged(e store.Event[*corev1.PersistentVolume]) {
	now := e.Object.Spec.ClaimRef
	if e.Type == store.Deleted || now == nil || now.UID == "" {
		return
	}
	if e.Type == store.Added || e.Old.Spec.ClaimRef == nil || e.Old.Spec.ClaimRef.UID != now.UID {
		c.addUsers(store.Key{Namespace: now.Namespace, Name: now.Name})
	}
}

// addUsers queues the pods that use a claim.
func (c *Controller) addUsers(claim store.Key) {
	for pod := range store.Indexed[*corev1.Pod](c.Cache, kind.PodsByClaim, claim.String()) {
		c.queue.Add(store.KeyOf(pod))
	}
}

// driverChanged handles a change of seLinuxMount. If it is false, the policy of the pods does not
// count.
func (c *Controller) driverChanged(e store.Event[*storagev1.CSIDriver]) {
	mounts := func(d *storagev1.CSIDriver) bool { return d.Spec.SELinuxMount != nil && *d.Spec.SELinuxMount }
	if e.Type == store.Modified && mounts(e.Old) == mounts(e.Object) || e.Type == store.Deleted && !mounts(e.Object) {
		return
	}
	for _, pod := range c.uses.podsOf(e.Object.Name) {
		c.queue.Add(pod)
	}
}

// mountsWithLabel reports whether the driver mounts with -o context.
func (c *Controller) mountsWithLabel(driver string) bool {
	d, ok := volume.CSIDriver(c.Component, driver)
	return ok && d.Spec.SELinuxMount != nil && *d.Spec.SELinuxMount
}
