//go:build linux

package defect

import (
	"sync"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unstageForgivesAfterRestart = &Defect{
	Name: "unstage-forgives-after-restart",
	Does: "NodeUnstageVolume succeeds when it could not unmount a volume that was staged before the program started",
	Wrap: func(d *service.Driver) { d.Mounts = &forgiving{Mounts: d.Mounts} },
}

// forgiving ignores errors of mounts that this instance has not staged.
type forgiving struct {
	service.Mounts
	staged sync.Map
}

func (f *forgiving) Stage(v backend.Volume, content, staging string) error {
	f.staged.Store(staging, true)
	return f.Mounts.Stage(v, content, staging)
}

func (f *forgiving) Unmount(path string) (was bool, err error) {
	was, err = f.Mounts.Unmount(path)
	if _, own := f.staged.Load(path); err != nil && !own {
		return true, nil
	}
	return was, err
}
