//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var snapshotRestoresEmpty = &Defect{
	Name: "snapshot-restores-empty",
	Does: "a volume made from a snapshot is empty",
	Wrap: onCreate(func(_ *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		if spec.Source.SnapshotID != "" {
			spec.Source = backend.Source{}
		}
		return next.CreateVolume(spec)
	}),
}
