//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishNotFoundErrors = &Defect{
	Name: "unpublish-not-found-errors",
	Does: "NodeUnpublishVolume fails when the target is not mounted",
	Call: on(func(d *service.Driver, req *csi.NodeUnpublishVolumeRequest, next next) (any, error) {
		was := exists(req.GetTargetPath()) || exists(d.Inlines.Dir(req.GetVolumeId()))
		answer, err := next(req)
		if err == nil && !was {
			err = status.Errorf(codes.NotFound, "volume %s is not published at %s", req.GetVolumeId(), req.GetTargetPath())
		}
		return answer, err
	}),
}
