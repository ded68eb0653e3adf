//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var restoreConsumes = &Defect{
	Name: "restore-consumes",
	Does: "a snapshot that has become a volume is empty",
	Wrap: onCreate(func(d *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		v, err := next.CreateVolume(spec)
		if err == nil && spec.Source.SnapshotID != "" {
			err = d.Backend.WipeSnapshot(spec.Source.SnapshotID)
		}
		return v, err
	}),
}
