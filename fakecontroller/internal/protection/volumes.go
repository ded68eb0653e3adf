package protection

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// VolumeFinalizer protects a bound volume. C-GEN-13
const VolumeFinalizer = "kubernetes.io/pv-protection"

// Volumes is a running PV protection controller.
type Volumes struct {
	*component.Component
	queue *workqueue.Queue[store.Key]
}

// StartVolumes runs the PV protection controller.
func StartVolumes(w *component.World) *Volumes {
	c := &Volumes{Component: w.Start("pv-protection-controller", "")}
	c.queue = workqueue.New("volumes", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of volumes",
		Sources: []component.Source{component.On(func(e store.Event[*corev1.PersistentVolume]) {
			if e.Type != store.Deleted && needsWork(e.Object, VolumeFinalizer) {
				c.queue.Add(store.KeyOf(e.Object))
			}
		})},
	})
	return c
}

// sync adds the finalizer to a volume. If the volume is being deleted and not bound, it removes the
// finalizer. C-PVP-1
func (c *Volumes) sync(p *kernel.Process, key store.Key) error {
	pv, ok := component.Cached[*corev1.PersistentVolume](c.Component, key)
	switch {
	case !ok || !needsWork(pv, VolumeFinalizer):
		return nil
	case pv.DeletionTimestamp == nil:
		return writeFinalizers(p, c.Component, pv, append(slices.Clone(pv.Finalizers), VolumeFinalizer))
	case pv.Status.Phase == corev1.VolumeBound:
		return nil
	default:
		return writeFinalizers(p, c.Component, pv, volume.WithoutFinalizers(pv.Finalizers, VolumeFinalizer))
	}
}
