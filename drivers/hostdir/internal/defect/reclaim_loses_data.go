//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
)

var reclaimLosesData = &Defect{
	Name: "reclaim-loses-data",
	Does: "reclaiming space takes the volume's content away",
	Call: both(
		after(func(d *service.Driver, req *reclaimspace.ControllerReclaimSpaceRequest, _ *reclaimspace.ControllerReclaimSpaceResponse) error {
			return wipe(d, req.GetVolumeId())
		}),
		after(func(d *service.Driver, req *reclaimspace.NodeReclaimSpaceRequest, _ *reclaimspace.NodeReclaimSpaceResponse) error {
			return wipe(d, req.GetVolumeId())
		})),
}

// wipe deletes a volume's content.
func wipe(d *service.Driver, id string) error {
	v, err := d.Store.Volume(id)
	if err != nil {
		return err
	}
	return d.Backend.Wipe(v)
}
