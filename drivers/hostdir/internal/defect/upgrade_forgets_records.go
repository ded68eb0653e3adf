//go:build linux

package defect

import (
	"cmp"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var upgradeForgetsRecords = &Defect{
	Name: "upgrade-forgets-records",
	Does: "this release has its records elsewhere, and does not unmount a volume without a record",
	Configure: func(c *service.Config) {
		c.NodeStateDir = filepath.Join(cmp.Or(c.NodeStateDir, c.StateDir), "v2")
		c.TrustsRecords = true
	},
}
