//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unmountsLazily = &Defect{
	Name: "unmounts-lazily",
	Does: "all unmounts are lazy, whether the mount is in use or not",
	Wrap: func(d *service.Driver) { d.Mounts = lazyMounts{d.Mounts} },
}

type lazyMounts struct{ service.Mounts }

func (lazyMounts) Unmount(path string) (was bool, err error) { return mount.UnmountLazily(path) }
