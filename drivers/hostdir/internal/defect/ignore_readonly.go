//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var ignoreReadonly = &Defect{
	Name: "ignore-readonly",
	Does: "NodePublishVolume mounts writable when asked for read-only",
	Wrap: func(d *service.Driver) {
		d.Mounts = otherFlags{d.Mounts, func(flags mount.Flags) mount.Flags { return flags &^ mount.ReadOnly }}
	},
}
