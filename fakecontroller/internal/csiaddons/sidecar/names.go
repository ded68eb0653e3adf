package sidecar

import "strings"

// LeaseName is the name of the lease of a driver's sidecars. A-LEAD-2
func LeaseName(driver string) string { return normalize(driver) + "-csi-addons" }

// normalize makes of a text one that can be part of the name of a lease. A-LEAD-2
func normalize(text string) string {
	normal := strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, text)
	if strings.HasSuffix(normal, "-") {
		normal += "X"
	}
	return normal
}

// Normalize is how the manager finds a sidecar by the name of its pod. A-POOL-1
func Normalize(pod string) string { return normalize(pod) }
