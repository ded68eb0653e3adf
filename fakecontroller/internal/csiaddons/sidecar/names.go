package sidecar

import "github.com/csisim/csisim/internal/driver/sidecar"

// LeaseName returns the name of the lease of a driver's sidecars. A-LEAD-2
func LeaseName(driver string) string { return sidecar.Sanitized(driver) + "-csi-addons" }
