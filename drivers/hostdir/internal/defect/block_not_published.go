//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var blockNotPublished = &Defect{
	Name: "block-not-published",
	Does: "block volumes are made, and NodePublishVolume refuses them",
	Call: before(func(_ *service.Driver, req *csi.NodePublishVolumeRequest) error {
		if req.GetVolumeCapability().GetBlock() != nil {
			return status.Error(codes.InvalidArgument, "block volumes are not supported")
		}
		return nil
	}),
}
