//go:build linux

package defect

import (
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishRemovesContent = &Defect{
	Name: "unpublish-removes-content",
	Does: "NodeUnpublishVolume removes the target with all that is in it, unmounted or not",
	Call: on(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest, next next) (any, error) {
		answer, err := next(req)
		if status.Code(err) == codes.Internal {
			return &csi.NodeUnpublishVolumeResponse{}, service.Answer(os.RemoveAll(req.GetTargetPath()))
		}
		return answer, err
	}),
}
