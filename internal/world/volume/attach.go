package volume

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
)

// MustAttach reports whether volumes of the driver are attached before use. They are, unless the
// driver's CSIDriver object has attachRequired=false. A missing object counts as attachable.
// C-GEN-11, K-DSW-12
func MustAttach(c *component.Component, driver string) bool {
	return mustAttach(CSIDriver(c, driver))
}

// MustAttachIn is MustAttach with the control plane's view of the API.
func MustAttachIn(w *component.World, driver string) bool {
	return mustAttach(csiDriverIn(w.Store, w.Version, w.Legacy, driver))
}

func mustAttach(d *storagev1.CSIDriver, ok bool) bool {
	return !ok || d.Spec.AttachRequired == nil || *d.Spec.AttachRequired
}

// MultiAttachAllowed reports whether a volume may be attached to several nodes at once. This
// depends on the PV's access modes, not on the claim's. C-ADC-31
func MultiAttachAllowed(pv *corev1.PersistentVolume) bool {
	if pv == nil || len(pv.Spec.AccessModes) == 0 {
		return true
	}
	for _, mode := range pv.Spec.AccessModes {
		if mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany {
			return true
		}
	}
	return false
}
