//go:build linux

package defect

import (
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var statsRemembered = &Defect{
	Name: "stats-remembered",
	Does: "NodeGetVolumeStats reports the size that a volume had when it was measured first",
	Call: rememberStats(),
}

// rememberStats answers with the total of the first answer for a volume.
func rememberStats() Call {
	var totals sync.Map
	return after(func(_ *service.Driver, req *csi.NodeGetVolumeStatsRequest, answer *csi.NodeGetVolumeStatsResponse) error {
		for _, usage := range answer.GetUsage() {
			if usage.GetUnit() != csi.VolumeUsage_BYTES || service.InlineID.MatchString(req.GetVolumeId()) {
				continue
			}
			first, _ := totals.LoadOrStore(req.GetVolumeId(), usage.GetTotal())
			usage.Total = max(first.(int64), usage.GetUsed())
			if usage.GetAvailable() > 0 {
				usage.Available = max(0, first.(int64)-usage.GetUsed())
			}
		}
		return nil
	})
}
