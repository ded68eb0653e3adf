//go:build linux

package defect

import (
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishMakesFile = &Defect{
	Name: "publish-makes-file",
	Does: "NodePublishVolume puts a file at the target, and mounts nothing",
	Wrap: func(d *service.Driver) {
		d.Mounts = misplaced{d.Mounts, func(_, target string) error { return os.WriteFile(target, nil, 0o644) }}
	},
}
