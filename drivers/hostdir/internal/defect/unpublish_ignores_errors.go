//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishIgnoresErrors = &Defect{
	Name: "unpublish-ignores-errors",
	Does: "NodeUnpublishVolume succeeds when it could not unmount",
	Call: on(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest, next next) (any, error) {
		answer, err := next(req)
		if status.Code(err) == codes.Internal {
			return &csi.NodeUnpublishVolumeResponse{}, nil
		}
		return answer, err
	}),
}
