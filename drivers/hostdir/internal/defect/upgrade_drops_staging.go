//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var upgradeDropsStaging = &Defect{
	Name:      "upgrade-drops-staging",
	Does:      "this release does not stage volumes, and does not unstage those of the old release",
	Configure: func(c *service.Config) { c.Stage = false },
}
