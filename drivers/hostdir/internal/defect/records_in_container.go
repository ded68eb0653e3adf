//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var recordsInContainer = &Defect{
	Name: "records-in-container",
	Does: "the node records its volumes in /var/lib/hostdir of its container, and NodeUnpublishVolume and NodeUnstageVolume succeed when there is no record",
	Configure: func(c *service.Config) {
		if c.Node {
			c.NodeStateDir, c.TrustsRecords = "/var/lib/hostdir", true
		}
	},
}
