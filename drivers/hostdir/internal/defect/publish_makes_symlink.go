//go:build linux

package defect

import (
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishMakesSymlink = &Defect{
	Name: "publish-makes-symlink",
	Does: "NodePublishVolume puts a symbolic link to the volume at the target, and mounts nothing",
	Wrap: func(d *service.Driver) {
		d.Mounts = misplaced{d.Mounts, func(source, target string) error { return os.Symlink(source, target) }}
	},
}
