//go:build linux

package defect

import (
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var mountFlagsPartly = &Defect{
	Name: "mount-flags-partly",
	Does: "NodePublishVolume mounts with nosuid, and without the other requested mount flags",
	Wrap: func(d *service.Driver) {
		d.Mounts = otherFlags{d.Mounts, func(flags mount.Flags) mount.Flags { return flags & (mount.ReadOnly | unix.MS_NOSUID) }}
	},
}
