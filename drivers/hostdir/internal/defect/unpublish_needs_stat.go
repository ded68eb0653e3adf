//go:build linux

package defect

import (
	"errors"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishNeedsStat = &Defect{
	Name: "unpublish-needs-stat",
	Does: "NodeUnpublishVolume fails if stat(2) of the target fails",
	Call: on(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest, next next) (any, error) {
		_, err := os.Stat(req.GetTargetPath())
		if err == nil {
			return next(req)
		}
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return &csi.NodeUnpublishVolumeResponse{}, service.Answer(err)
	}),
}
