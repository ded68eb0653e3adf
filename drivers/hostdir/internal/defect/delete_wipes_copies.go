//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deleteWipesCopies = &Defect{
	Name: "delete-wipes-copies",
	Does: "DeleteVolume takes the content of the volumes away that were made from it",
	Call: before(func(d *service.Driver, req *csi.DeleteVolumeRequest) error {
		return d.Backend.WipeCopies(req.GetVolumeId())
	}),
}
