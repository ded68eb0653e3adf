package attachdetach

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// informers are the controller's informers. C-ADC-3
type informers struct {
	nodes       *store.Watcher[*corev1.Node]
	drivers     *store.Watcher[*storagev1.CSIDriver]
	claims      *store.Watcher[*corev1.PersistentVolumeClaim]
	pods        *store.Watcher[*corev1.Pod]
	attachments *store.Watcher[*storagev1.VolumeAttachment]
}

func (c *Controller) openInformers(p *kernel.Process) *informers {
	return &informers{
		nodes:       component.Watch[*corev1.Node](c.Component, p),
		drivers:     component.Watch[*storagev1.CSIDriver](c.Component, p),
		claims:      component.Watch[*corev1.PersistentVolumeClaim](c.Component, p),
		pods:        component.Watch[*corev1.Pod](c.Component, p),
		attachments: component.Watch[*storagev1.VolumeAttachment](c.Component, p),
	}
}

func (c *Controller) takeNodes(in *informers) {
	for e, ok := in.nodes.Next(); ok; e, ok = in.nodes.Next() {
		switch e.Type {
		case store.Added:
			c.nodeAdded(e.Object)
		case store.Modified:
			c.nodeUpdated(e.Object, e.Old)
		case store.Deleted:
			if !e.FinalStateUnknown { // [attach_detach_controller.go nodeDelete]
				c.nodeDeleted(e.Object)
			}
		}
	}
}

func (c *Controller) takeDrivers(in *informers) {
	for e, ok := in.drivers.Next(); ok; e, ok = in.drivers.Next() {
		c.driverChanged(e)
	}
}

// takeClaims queues claims that may reveal the volumes of waiting pods. C-ADC-12
func (c *Controller) takeClaims(in *informers) {
	for e, ok := in.claims.Next(); ok; e, ok = in.claims.Next() {
		if e.Type != store.Deleted && isBound(e.Object) {
			c.claims.Add(store.KeyOf(e.Object))
		}
	}
}

func (c *Controller) takePods(in *informers) {
	for e, ok := in.pods.Next(); ok; e, ok = in.pods.Next() {
		if e.Replaced() { // only the populator looks at the old pod. C-ADC-14
			c.leaveOver(e.Old)
		}
		if e.Type == store.Deleted {
			c.podDeleted(e.Object)
		} else {
			c.podChanged(e.Object)
		}
	}
}

// takeAttachments wakes operations that wait for a VolumeAttachment. It also triggers the
// verification of attachments if their object is no longer attached.
func (c *Controller) takeAttachments(in *informers) {
	for e, ok := in.attachments.Next(); ok; e, ok = in.attachments.Next() {
		if news := c.waiting[e.Object.Name]; news != nil {
			news.changed = true
			news.process.Wake()
		}
		gone := e.Type == store.Deleted || !e.Object.Status.Attached
		if at, known := c.actual.byObject[e.Object.Name]; known && gone && c.actual.confirmed(at) {
			c.distrust(at)
		}
	}
}
