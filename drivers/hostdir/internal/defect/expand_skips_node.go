//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var expandSkipsNode = &Defect{
	Name: "expand-skips-node",
	Does: "ControllerExpandVolume says that the node has nothing to do",
	Call: after(func(_ *service.Driver, _ *csi.ControllerExpandVolumeRequest, answer *csi.ControllerExpandVolumeResponse) error {
		answer.NodeExpansionRequired = false
		return nil
	}),
}
