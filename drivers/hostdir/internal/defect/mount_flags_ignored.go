//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var mountFlagsIgnored = &Defect{
	Name: "mount-flags-ignored",
	Does: "NodePublishVolume mounts without the requested mount flags",
	Wrap: func(d *service.Driver) {
		d.Mounts = otherFlags{d.Mounts, func(flags mount.Flags) mount.Flags { return flags & mount.ReadOnly }}
	},
}
