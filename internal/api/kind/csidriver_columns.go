package kind

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"
)

var driverColumns = []Column{
	nameColumn,
	show("AttachRequired", "boolean", func(d *storagev1.CSIDriver) any { return d.Spec.AttachRequired == nil || *d.Spec.AttachRequired }),
	show("PodInfoOnMount", "boolean", func(d *storagev1.CSIDriver) any { return isTrue(d.Spec.PodInfoOnMount) }),
	show("StorageCapacity", "boolean", func(d *storagev1.CSIDriver) any { return isTrue(d.Spec.StorageCapacity) }),
	text("TokenRequests", func(d *storagev1.CSIDriver) string {
		if d.Spec.TokenRequests == nil {
			return "<unset>"
		}
		audiences := []string{}
		for _, t := range d.Spec.TokenRequests {
			audiences = append(audiences, t.Audience)
		}
		return strings.Join(audiences, ",")
	}),
	show("RequiresRepublish", "boolean", func(d *storagev1.CSIDriver) any { return isTrue(d.Spec.RequiresRepublish) }),
	text("Modes", func(d *storagev1.CSIDriver) string {
		modes := []string{}
		for _, m := range d.Spec.VolumeLifecycleModes {
			modes = append(modes, string(m))
		}
		if len(modes) == 0 {
			return "<none>"
		}
		return strings.Join(modes, ",")
	}),
	ageColumn,
}

func isTrue(b *bool) bool { return b != nil && *b }
