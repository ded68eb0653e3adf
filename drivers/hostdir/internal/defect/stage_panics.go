//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var stagePanics = &Defect{
	Name: "stage-panics",
	Does: "NodeStageVolume panics",
	Wrap: onStage(func(_ *service.Driver, _ service.Mounts, v backend.Volume, _, _ string) error {
		panic("no backend for volume " + v.ID)
	}),
}
