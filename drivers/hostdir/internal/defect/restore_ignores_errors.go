//go:build linux

package defect

import (
	"errors"
	"syscall"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var restoreIgnoresErrors = &Defect{
	Name: "restore-ignores-errors",
	Does: "if the disk is full while a snapshot becomes a volume, the volume is empty, and CreateVolume succeeds",
	Wrap: onCreate(func(d *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		v, err := next.CreateVolume(spec)
		if spec.Source.SnapshotID == "" || !errors.Is(err, syscall.ENOSPC) {
			return v, err
		}
		if v, err = next.CreateVolume(spec); err != nil {
			return v, err
		}
		return v, d.Backend.Wipe(v)
	}),
}
