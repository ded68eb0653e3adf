//go:build linux

package defect

import (
	"sync"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var readonlySticks = &Defect{
	Name: "readonly-sticks",
	Does: "a volume that is published read-only first is published so ever after",
	Wrap: func(d *service.Driver) { d.Mounts = &firstFlags{Mounts: d.Mounts} },
}

// firstFlags publishes a volume with the flags of its first publication.
type firstFlags struct {
	service.Mounts
	byVolume, byTarget sync.Map
}

func (f *firstFlags) Publish(v backend.Volume, source, target string, flags mount.Flags) error {
	first, _ := f.byVolume.LoadOrStore(v.ID, flags)
	f.byTarget.Store(target, first)
	return f.Mounts.Publish(v, source, target, first.(mount.Flags))
}

func (f *firstFlags) Restrict(target string, flags mount.Flags) error {
	if first, known := f.byTarget.Load(target); known {
		flags = first.(mount.Flags)
	}
	return f.Mounts.Restrict(target, flags)
}
