//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var getOmitsNodes = &Defect{
	Name: "get-omits-nodes",
	Does: "ControllerGetVolume says nothing of the nodes that a volume is attached to",
	Call: after(func(_ *service.Driver, _ *csi.ControllerGetVolumeRequest, answer *csi.ControllerGetVolumeResponse) error {
		answer.Status.PublishedNodeIds = nil
		return nil
	}),
}
