//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var copyRecordedSmall = &Defect{
	Name: "copy-recorded-small",
	Does: "a volume made from another one is recorded with the size of that, and CreateVolume answers the required size",
	Wrap: onCreate(func(d *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		source, err := next.Volume(spec.Source.VolumeID)
		if err != nil || spec.RequiredBytes <= source.CapacityBytes {
			return next.CreateVolume(spec)
		}
		answered := spec.RequiredBytes
		spec.RequiredBytes = source.CapacityBytes
		v, err := next.CreateVolume(spec)
		v.CapacityBytes = answered
		return v, err
	}),
}
