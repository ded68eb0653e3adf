//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deleteLeavesVolume = &Defect{
	Name: "delete-leaves-volume",
	Does: "DeleteVolume succeeds and leaves the volume",
	Call: on(func(*service.Driver, *csi.DeleteVolumeRequest, next) (any, error) {
		return &csi.DeleteVolumeResponse{}, nil
	}),
}
