//go:build linux

package defect

import (
	"errors"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var stageClears = &Defect{
	Name: "stage-clears",
	Does: "NodeStageVolume takes a volume that it cannot mount for one without content, and clears it",
	Wrap: onStage(func(d *service.Driver, next service.Mounts, v backend.Volume, content, staging string) error {
		err := next.Stage(v, content, staging)
		if err != nil {
			err = errors.Join(d.Backend.Wipe(v), next.Stage(v, content, staging))
		}
		return err
	}),
}
