// Package ephemeral is the controller that creates the claims of generic ephemeral volumes, one for
// each such volume of each pod.
package ephemeral

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Controller is a running ephemeral volume controller. C-EPH-1
type Controller struct {
	*component.Component
	pods *workqueue.Queue[store.Key]
}

// Start runs the ephemeral volume controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("ephemeral_volume", "")}
	c.pods = workqueue.New("pods", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		News: "new pods and deleted claims",
		Sources: []component.Source{
			component.On(func(e store.Event[*corev1.Pod]) {
				if e.Type == store.Added && hasEphemeral(e.Object) {
					c.pods.Add(store.KeyOf(e.Object))
				}
			}),
			component.On(func(e store.Event[*corev1.PersistentVolumeClaim]) {
				if e.Type == store.Deleted {
					c.addUsers(e.Object)
				}
			}),
		},
	})
	return c
}

// addUsers queues the pods that may need a deleted claim again.
func (c *Controller) addUsers(pvc *corev1.PersistentVolumeClaim) {
	for pod := range store.Indexed[*corev1.Pod](c.Cache, kind.PodsByClaim, store.KeyOf(pvc).String()) {
		if hasEphemeral(pod) {
			c.pods.Add(store.KeyOf(pod))
		}
	}
}

func hasEphemeral(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	return false
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	pod, ok := component.Cached[*corev1.Pod](c.Component, key)
	if !ok || pod.DeletionTimestamp != nil {
		return nil
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Ephemeral == nil {
			continue
		}
		if err := c.provide(p, pod, &pod.Spec.Volumes[i]); err != nil {
			c.Event(pod, corev1.EventTypeWarning, "FailedBinding", "ephemeral volume %s: %v", pod.Spec.Volumes[i].Name, err)
			return fmt.Errorf("claim for volume %s of pod %s: %w", pod.Spec.Volumes[i].Name, key, err)
		}
	}
	return nil
}

// provide creates the claim of one volume unless it exists.
func (c *Controller) provide(p *kernel.Process, pod *corev1.Pod, v *corev1.Volume) error {
	key, _, _ := volume.ClaimOf(pod, v)
	pvc, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
	switch {
	case !ok:
		if _, err := component.Create(p, c.Component, claimFor(pod, key, v.Ephemeral.VolumeClaimTemplate)); err != nil {
			return fmt.Errorf("create PVC %s: %w", key.Name, err)
		}
		return nil
	case !metav1.IsControlledBy(pvc, pod):
		return fmt.Errorf("PVC %s was not created for pod %s (pod is not owner)", key, store.KeyOf(pod))
	}
	return nil
}

func claimFor(pod *corev1.Pod, key store.Key, template *corev1.PersistentVolumeClaimTemplate) *corev1.PersistentVolumeClaim {
	owner := metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Spec: template.Spec,
	}
}
