package attachdetach

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// recover rebuilds both states of world from the API.
func (c *Controller) recover() {
	if seeded.IsMade(seeded.AttachedFromOldView) {
		return
	}
	for node := range store.List[*corev1.Node](c.Cache, "") {
		c.recoverNode(node)
	}
	for va := range store.List[*storagev1.VolumeAttachment](c.Cache, "") {
		c.recoverAttachment(va)
	}
	for pod := range store.List[*corev1.Pod](c.Cache, "") {
		c.recoverPod(pod)
	}
	// In any order: a pass sorts the marks.
	for _, at := range c.actual.byObject {
		c.mark(at)
	}
}

// recoverNode enters the volumes in the node's status as attached. C-ADC-5
func (c *Controller) recoverNode(node *corev1.Node) {
	for _, attached := range node.Status.VolumesAttached {
		at := pair{string(attached.Name), node.Name}
		c.actual.markAttached(at, nil)
		c.trustOnlyIfAttached(at)
	}
	c.setInUse(node)
}

// recoverAttachment handles a VolumeAttachment that is missing in its node's status: it counts as
// an attempt with an unknown outcome. C-ADC-6
func (c *Controller) recoverAttachment(va *storagev1.VolumeAttachment) {
	if va.Spec.Source.PersistentVolumeName == nil {
		return
	}
	pv, ok := component.Cached[*corev1.PersistentVolume](c.Component, store.Key{Name: *va.Spec.Source.PersistentVolumeName})
	if !ok {
		return
	}
	s, ok := c.attachable(pv)
	if !ok {
		return
	}
	at := pair{s.unique(), va.Spec.NodeName}
	if c.actual.get(at) == nil {
		c.actual.markUncertain(at, s)
	}
}

// recoverPod gives attached volumes the specs from their pods. C-ADC-7
func (c *Controller) recoverPod(pod *corev1.Pod) {
	c.podChanged(pod)
	if pod.Spec.NodeName == "" || volume.Terminated(pod) {
		return
	}
	specs, _ := c.volumesOf(pod)
	for _, s := range specs {
		if at := (pair{s.unique(), pod.Spec.NodeName}); c.actual.confirmed(at) {
			c.actual.markAttached(at, s)
		}
	}
}
