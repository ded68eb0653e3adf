//go:build linux

package defect

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var sizesCompared = &Defect{
	Name: "sizes-compared",
	Does: "CreateVolume rounds sizes up to MiB, and a repeated call compares the requested size with the rounded one",
	Wrap: onCreate(func(_ *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		old, err := next.Volume(backend.VolumeID(spec.Name))
		if err == nil && old.CapacityBytes != spec.RequiredBytes {
			return old, status.Errorf(codes.AlreadyExists, "volume %s has %d bytes, not %d", old.ID, old.CapacityBytes, spec.RequiredBytes)
		}
		const mib = 1 << 20
		spec.RequiredBytes = (spec.RequiredBytes + mib - 1) / mib * mib
		return next.CreateVolume(spec)
	}),
}
