// Package profiles describes well-known CSI drivers: one YAML file each with the start of the
// driver's binary and its needs. Package cmd/internal/scenario/profile reads them.
package profiles

import "embed"

// Files are the profiles, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
