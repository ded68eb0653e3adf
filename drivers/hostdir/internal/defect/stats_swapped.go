//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var statsSwapped = &Defect{
	Name: "stats-swapped",
	Does: "NodeGetVolumeStats answers used as available, and available as used",
	Call: after(func(_ *service.Driver, _ *csi.NodeGetVolumeStatsRequest, answer *csi.NodeGetVolumeStatsResponse) error {
		for _, u := range answer.GetUsage() {
			u.Used, u.Available = u.GetAvailable(), u.GetUsed()
		}
		return nil
	}),
}
