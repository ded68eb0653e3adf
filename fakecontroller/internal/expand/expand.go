// Package expand is the expand controller of kube-controller-manager. For a CSI volume it only
// emits an event that an external resizer expands the volume.
package expand

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

type claim = *corev1.PersistentVolumeClaim

// Controller is a running expand controller. C-EXP-1
type Controller struct {
	*component.Component
	claims *workqueue.Queue[store.Key]
}

// Start runs the expand controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("volume_expand", "")}
	c.claims = workqueue.New("claims", workqueue.Workers(10), c.Go, c.sync)
	c.Inform(component.Informers{
		News: "claims that grow",
		Sources: []component.Source{component.On(func(e store.Event[claim]) {
			if e.Object.Status.Phase == corev1.ClaimBound && (e.Type != store.Modified || hasGrown(e.Old, e.Object)) {
				c.claims.Add(store.KeyOf(e.Object))
			}
		})},
	})
	return c
}

// hasGrown reports whether the requested size, or the capacity, has grown. C-EXP-1
func hasGrown(old, now claim) bool {
	return requested(now).Cmp(*requested(old)) > 0 || now.Status.Capacity.Storage().Cmp(*old.Status.Capacity.Storage()) > 0
}

func requested(pvc claim) *resource.Quantity { return pvc.Spec.Resources.Requests.Storage() }

// sync writes the name of the resizer into a claim that requests a larger size. C-EXP-2, C-EXP-4
func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	pvc, ok := component.Cached[claim](c.Component, key)
	if !ok {
		return nil
	}
	pv, err := component.Live[*corev1.PersistentVolume](p, c.Component, store.Key{Name: pvc.Spec.VolumeName})
	if err != nil {
		return fmt.Errorf("volume of claim %s: %w", key, err)
	}
	ref := pv.Spec.ClaimRef
	if ref == nil || ref.Namespace != pvc.Namespace || ref.UID != pvc.UID {
		return fmt.Errorf("volume %s is not bound to claim %s", pv.Name, key)
	}
	_, halfDone := pv.Annotations[annPreResizeCapacity]
	if requested(pvc).Cmp(*pvc.Status.Capacity.Storage()) <= 0 && !halfDone {
		return nil
	}
	if plugin, ok := c.Migration.Plugin(pv); ok {
		return c.handOver(p, pvc, plugin)
	}
	c.Event(pvc, corev1.EventTypeNormal, "ExternalExpanding", "waiting for an external controller to expand this PVC")
	return nil
}

// handOver names the driver that expands a migrated volume. C-EXP-3
func (c *Controller) handOver(p *kernel.Process, pvc claim, plugin string) error {
	c.Event(pvc, corev1.EventTypeNormal, "ExternalExpanding", "CSI migration enabled for %s; waiting for external resizer to expand the pvc", plugin)
	driver, _ := c.Migration.Driver(plugin)
	_, err := component.PatchStatus(p, c.Component, store.KeyOf(pvc), func(pvc claim) {
		metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, annResizer, driver)
	})
	if err != nil {
		c.Event(pvc, corev1.EventTypeWarning, "ExternalExpanding", "error setting resizer annotation to pvc %s, with error %v", store.KeyOf(pvc), err)
	}
	return err
}

const annResizer = "volume.kubernetes.io/storage-resizer"

// annPreResizeCapacity marks a volume with a file system that has not grown yet. C-RES-3
const annPreResizeCapacity = "volume.alpha.kubernetes.io/pre-resize-capacity"
