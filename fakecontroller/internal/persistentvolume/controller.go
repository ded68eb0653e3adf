// Package persistentvolume is the PV binder of kube-controller-manager. It binds claims to volumes,
// requests new volumes from external provisioners, and decides about the volumes of deleted claims.
package persistentvolume

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// ResyncPeriod is the interval at which all claims and volumes are processed again. C-PV-1
const ResyncPeriod = 15 * time.Second

// Controller is a running PV controller.
type Controller struct {
	*component.Component
	claims     *component.Overlay[*corev1.PersistentVolumeClaim]
	volumes    *component.Overlay[*corev1.PersistentVolume]
	claimKeys  *workqueue.Queue[store.Key]
	volumeKeys *workqueue.Queue[store.Key]
	operations *operation.Pending
	resync     *kernel.Process

	// The objects that a resync could change. A sync of any other object does nothing.
	openClaims, openVolumes map[store.Key]bool
}

// Start runs the PV binder. After a crash it continues from the state of the API objects: every
// step of binding is idempotent. C-PV-23
func Start(w *component.World) *Controller {
	c := &Controller{
		Component:   w.Start("persistentvolume-controller", ""),
		openClaims:  map[store.Key]bool{},
		openVolumes: map[store.Key]bool{},
	}
	c.claims = component.NewOverlay[*corev1.PersistentVolumeClaim](c.Component)
	c.volumes = component.NewOverlay[*corev1.PersistentVolume](c.Component)
	c.claimKeys = workqueue.New("claims", workqueue.Default, c.Go, c.syncClaim)
	c.volumeKeys = workqueue.New("volumes", workqueue.Default, c.Go, c.syncVolume)
	c.operations = operation.New(w.Kernel, c.Go, nil)
	c.resync = c.Go("resync", c.resyncForEver)
	c.Inform(component.Informers{
		News:    "changes of claims and volumes",
		Sources: []component.Source{component.On(c.claimChanged), component.On(c.volumeChanged)},
	})
	return c
}

func (c *Controller) claimChanged(e store.Event[*corev1.PersistentVolumeClaim]) {
	key := store.KeyOf(e.Object)
	if e.Type != store.Deleted {
		mark(c.openClaims, key, !claimSettled(e.Object), c.resync)
		c.claimKeys.Add(key)
		return
	}
	delete(c.openClaims, key)
	c.claims.Drop(key)
	if e.Object.Spec.VolumeName != "" { // C-PV-4
		c.volumeKeys.Add(store.Key{Name: e.Object.Spec.VolumeName})
	}
}

func (c *Controller) volumeChanged(e store.Event[*corev1.PersistentVolume]) {
	key := store.KeyOf(e.Object)
	if e.Type != store.Deleted {
		mark(c.openVolumes, key, !volumeSettled(e.Object), c.resync)
		if e.Old != nil && pointsElsewhere(e.Old.Spec.ClaimRef, e.Object.Spec.ClaimRef) { // C-PV-13
			mark(c.openClaims, store.Key{Namespace: e.Old.Spec.ClaimRef.Namespace, Name: e.Old.Spec.ClaimRef.Name}, true, c.resync)
		}
		c.volumeKeys.Add(key)
		return
	}
	delete(c.openVolumes, key)
	c.volumes.Drop(key)
	if ref := e.Object.Spec.ClaimRef; ref != nil { // C-PV-4
		c.claimKeys.Add(store.Key{Namespace: ref.Namespace, Name: ref.Name})
	}
}
