//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var detachDeletedErrors = &Defect{
	Name: "detach-deleted-errors",
	Does: "ControllerUnpublishVolume fails when the volume was deleted",
	Call: before(func(d *service.Driver, req *csi.ControllerUnpublishVolumeRequest) error {
		_, err := d.Store.Volume(req.GetVolumeId())
		return err
	}),
}
