//go:build linux

package defect

import (
	"os"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var stageLeaksMount = &Defect{
	Name: "stage-leaks-mount",
	Does: "NodeStageVolume mounts at a path of its own, too, and leaves that mount",
	Wrap: onStage(func(d *service.Driver, next service.Mounts, v backend.Volume, content, staging string) error {
		hidden := filepath.Join(d.Config.NodeStateDir, "hidden", v.ID)
		if err := os.MkdirAll(hidden, 0o755); err != nil {
			return err
		}
		if err := mount.Bind(hidden, hidden); err != nil {
			return err
		}
		return next.Stage(v, content, staging)
	}),
}
