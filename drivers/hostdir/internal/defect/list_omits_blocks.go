//go:build linux

package defect

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var listOmitsBlocks = &Defect{
	Name: "list-omits-blocks",
	Does: "ListVolumes leaves out block volumes",
	Call: after(func(d *service.Driver, _ *csi.ListVolumesRequest, answer *csi.ListVolumesResponse) error {
		answer.Entries = slices.DeleteFunc(answer.GetEntries(), func(e *csi.ListVolumesResponse_Entry) bool {
			v, err := d.Store.Volume(e.GetVolume().GetVolumeId())
			return err == nil && v.Block
		})
		return nil
	}),
}
