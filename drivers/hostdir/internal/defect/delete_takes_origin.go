//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deleteTakesOrigin = &Defect{
	Name: "delete-takes-origin",
	Does: "DeleteVolume deletes the content of the volume that this one was made from",
	Call: beforeDeletion(func(d *service.Driver, v backend.Volume) error {
		origin, err := d.Store.Volume(v.Source.VolumeID)
		if v.Source.VolumeID == "" || err != nil {
			return nil
		}
		return d.Backend.Wipe(origin)
	}),
}
