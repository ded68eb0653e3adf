// Package feature lists the feature gates of Kubernetes v1.36 that can be switched and that affect
// storage. It omits locked gates, because their features are always enabled.
package feature

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gate is the name of a feature gate.
type Gate string

// The gates, all off by default. K-CFG-1
const (
	// SELinuxMount lets volumes of any access mode be mounted with the pod's SELinux label.
	SELinuxMount Gate = "SELinuxMount"
	// CSIVolumeHealth makes the kubelet look at the condition of volumes.
	CSIVolumeHealth Gate = "CSIVolumeHealth"
	// CrossNamespaceVolumeDataSource keeps the namespace of a claim's dataSourceRef. C-PROV-42
	CrossNamespaceVolumeDataSource Gate = "CrossNamespaceVolumeDataSource"
	// VolumeLimitScaling permits a CSIDriver to keep pods off nodes on which the driver is not
	// installed. C-SCHED-26
	VolumeLimitScaling Gate = "VolumeLimitScaling"
)

var known = []Gate{CSIVolumeHealth, CrossNamespaceVolumeDataSource, SELinuxMount, VolumeLimitScaling}

// Gates are the gates of one cluster that differ from the defaults; nil means the defaults.
type Gates map[Gate]bool

// Enabled reports whether a gate is enabled.
func (g Gates) Enabled(gate Gate) bool { return g[gate] }

// Validate returns the first gate that does not exist or cannot be switched.
func (g Gates) Validate() error {
	for _, gate := range slices.Sorted(maps.Keys(g)) {
		if !slices.Contains(known, gate) {
			return fmt.Errorf("there is no feature gate %q that can be switched; there are %s", gate, Names())
		}
	}
	return nil
}

// Names lists the gates that can be switched.
func Names() string {
	var names []string
	for _, gate := range known {
		names = append(names, string(gate))
	}
	return strings.Join(names, ", ")
}
