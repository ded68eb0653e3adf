//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishNotIdempotent = &Defect{
	Name: "publish-not-idempotent",
	Does: "NodePublishVolume mounts again on top of an existing mount",
	Call: on(func(_ *service.Driver, req *csi.NodePublishVolumeRequest, next next) (any, error) {
		again := mounted(req.GetTargetPath())
		answer, err := next(req)
		if err == nil && again {
			err = service.Answer(mount.Bind(req.GetTargetPath(), req.GetTargetPath()))
		}
		return answer, err
	}),
}
