//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var readonlyByRemount = &Defect{
	Name: "readonly-by-remount",
	Does: "NodePublishVolume binds, then remounts read-only, which no other mount namespace sees",
	Wrap: onPublish(func(_ *service.Driver, next service.Mounts, v backend.Volume, source, target string, flags mount.Flags) error {
		if flags&mount.ReadOnly == 0 {
			return next.Publish(v, source, target, flags)
		}
		return mount.Bind(source, target)
	}),
}
