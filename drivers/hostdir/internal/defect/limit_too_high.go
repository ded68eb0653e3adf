//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var limitTooHigh = &Defect{
	Name: "limit-too-high",
	Does: "NodeGetInfo allows one volume more than can be attached",
	Call: after(func(d *service.Driver, _ *csi.NodeGetInfoRequest, info *csi.NodeGetInfoResponse) error {
		info.MaxVolumesPerNode = d.Config.MaxVolumes + 1
		return nil
	}),
}
