//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unstageLeavesMount = &Defect{
	Name: "unstage-leaves-mount",
	Does: "NodeUnstageVolume succeeds and leaves the mount",
	Call: on(func(*service.Driver, *csi.NodeUnstageVolumeRequest, next) (any, error) {
		return &csi.NodeUnstageVolumeResponse{}, nil
	}),
}
