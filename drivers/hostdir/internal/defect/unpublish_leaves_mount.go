//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishLeavesMount = &Defect{
	Name: "unpublish-leaves-mount",
	Does: "NodeUnpublishVolume succeeds and leaves the mount",
	Call: on(func(*service.Driver, *csi.NodeUnpublishVolumeRequest, next) (any, error) {
		return &csi.NodeUnpublishVolumeResponse{}, nil
	}),
}
