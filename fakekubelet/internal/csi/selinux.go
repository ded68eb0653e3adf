package csi

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/world/volume"
)

// MountsWithLabel reports whether a driver can mount with an SELinux label. K-SEL-1
func (pl *Plugin) MountsWithLabel(driver string) bool {
	d, ok := volume.CSIDriver(pl.kubelet, driver)
	return ok && d.Spec.SELinuxMount != nil && *d.Spec.SELinuxMount
}

// usableLabel returns the label, unless the driver has stopped supporting labels.
func (s *step) usableLabel(label string) string {
	if label == "" || !s.MountsWithLabel(s.driver) {
		return ""
	}
	return label
}

// withLabel adds the mount option for a label. It quotes the label because of the comma in it.
// K-SEL-2
func withLabel(flags []string, label string) []string {
	if label == "" {
		return flags
	}
	return append(slices.Clone(flags), fmt.Sprintf("context=%q", label))
}
