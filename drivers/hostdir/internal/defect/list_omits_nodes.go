//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var listOmitsNodes = &Defect{
	Name: "list-omits-nodes",
	Does: "ListVolumes lists volumes without the nodes that they are attached to",
	Call: after(func(_ *service.Driver, _ *csi.ListVolumesRequest, list *csi.ListVolumesResponse) error {
		for _, e := range list.GetEntries() {
			e.Status.PublishedNodeIds = nil
		}
		return nil
	}),
}
