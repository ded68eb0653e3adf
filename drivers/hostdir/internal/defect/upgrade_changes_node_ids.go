//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var upgradeChangesNodeIds = &Defect{
	Name: "upgrade-changes-node-ids",
	Does: "this release gives nodes other ids",
	Configure: func(c *service.Config) {
		if c.Node {
			c.NodeID = "v2-" + c.NodeID
		}
	},
}
