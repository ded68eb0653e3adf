// Package profiles holds what is known of well-known CSI drivers: one YAML file each that
// says how the driver is started from its binary and what it needs. Package
// cmd/internal/scenario/profile reads them.
package profiles

import "embed"

// Files are the profiles, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
