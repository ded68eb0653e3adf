//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var upgradeRewritesState = &Defect{
	Name:      "upgrade-rewrites-state",
	Does:      "this release writes the records of all volumes in a form that the old release cannot read",
	Configure: func(c *service.Config) { c.Format = backend.Nested },
	Upgrade:   func(d *service.Driver) error { return d.Backend.Rewrite() },
}
