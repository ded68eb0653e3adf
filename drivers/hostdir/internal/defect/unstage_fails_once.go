//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unstageFailsOnce = &Defect{
	Name: "unstage-fails-once",
	Does: "NodeUnstageVolume unmounts and answers Internal, so that it has to be called again",
	Call: on(func(_ *service.Driver, req *csi.NodeUnstageVolumeRequest, next next) (any, error) {
		was := mounted(req.GetStagingTargetPath())
		answer, err := next(req)
		if err == nil && was {
			err = status.Errorf(codes.Internal, "volume %s is unmounted, and something else went wrong", req.GetVolumeId())
		}
		return answer, err
	}),
}
