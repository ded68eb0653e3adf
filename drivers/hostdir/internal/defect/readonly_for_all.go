//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var readonlyForAll = &Defect{
	Name: "readonly-for-all",
	Does: "NodePublishVolume makes the staged volume read-only for a read-only request, and with it all later publications",
	Wrap: onPublish(func(_ *service.Driver, next service.Mounts, v backend.Volume, source, target string, flags mount.Flags) error {
		if flags&mount.ReadOnly != 0 {
			if err := mount.Restrict(source, mount.ReadOnly); err != nil {
				return err
			}
		}
		return next.Publish(v, source, target, flags)
	}),
}
