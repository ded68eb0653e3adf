//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var createNotIdempotent = &Defect{
	Name: "create-not-idempotent",
	Does: "CreateVolume makes a second volume for the same name",
	Wrap: onCreate(func(d *service.Driver, _ service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		return d.Backend.CreateAnotherVolume(spec)
	}),
}
