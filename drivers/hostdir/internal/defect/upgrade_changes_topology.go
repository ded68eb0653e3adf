//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var upgradeChangesTopology = &Defect{
	Name: "upgrade-changes-topology",
	Does: "this release names the topology of nodes by other keys",
	Configure: func(c *service.Config) {
		renamed := map[string]string{}
		for key, value := range c.Topology {
			renamed["v2."+key] = value
		}
		c.Topology = renamed
	},
}
