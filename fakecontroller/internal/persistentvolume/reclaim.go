package persistentvolume

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
)

// reclaim applies the reclaim policy of a released volume. C-PV-50
func (c *Controller) reclaim(p *kernel.Process, pv *corev1.PersistentVolume) error {
	if pv.Annotations[storagevolume.AnnMigratedTo] != "" {
		return nil
	}
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
	case corev1.PersistentVolumeReclaimRecycle: // C-PV-52: no remaining plugin can recycle
		c.start("recycle-"+pv.Name+"["+string(pv.UID)+"]", func(p *kernel.Process) error {
			return c.fail(p, pv, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
		})
	case corev1.PersistentVolumeReclaimDelete:
		if !deletedExternally(pv) {
			c.start("delete-"+pv.Name+"["+string(pv.UID)+"]", func(p *kernel.Process) error {
				return c.fail(p, pv, "VolumeFailedDelete", "error getting deleter volume plugin for volume \""+pv.Name+"\": no deletable volume plugin matched")
			})
		}
	default:
		return c.fail(p, pv, "VolumeUnknownReclaimPolicy", "Volume has an unrecognized PersistentVolumeReclaimPolicy")
	}
	return nil
}

// deletedExternally reports whether a provisioner outside Kubernetes deletes the volume. This holds
// for all CSI volumes, and for volumes from an external provisioner. C-PV-51
func deletedExternally(pv *corev1.PersistentVolume) bool {
	provisioner, dynamic := pv.Annotations[storagevolume.AnnDynamicallyProvisioned]
	return pv.Spec.CSI != nil || (dynamic && !inTree(provisioner))
}

func inTree(provisioner string) bool { return strings.HasPrefix(provisioner, "kubernetes.io/") }

// start runs a long operation unless it is already running or in backoff. C-PV-5
func (c *Controller) start(name string, body func(*kernel.Process) error) {
	// A refusal is silent: if the operation is still needed later, it is requested again.
	_ = c.operations.Run(operation.Key{Volume: name}, "operation", body)
}
