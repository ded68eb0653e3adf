//go:build linux

package defect

import (
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deleteTakesSnapshots = &Defect{
	Name: "delete-takes-snapshots",
	Does: "DeleteVolume deletes the snapshots of the volume, too",
	Call: before(func(d *service.Driver, req *csi.DeleteVolumeRequest) error {
		all, err := d.Store.Snapshots()
		for _, s := range all {
			if s.VolumeID == req.GetVolumeId() {
				err = errors.Join(err, d.Store.DeleteSnapshot(s.ID))
			}
		}
		return err
	}),
}
