//go:build linux

package defect

import (
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishTrustsStat = &Defect{
	Name: "unpublish-trusts-stat",
	Does: "NodeUnpublishVolume takes a target for deleted if stat(2) fails, whatever the error is",
	Call: on(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest, next next) (any, error) {
		if _, err := os.Stat(req.GetTargetPath()); err != nil {
			return &csi.NodeUnpublishVolumeResponse{}, nil
		}
		return next(req)
	}),
}
