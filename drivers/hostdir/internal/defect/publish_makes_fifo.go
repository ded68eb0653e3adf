//go:build linux

package defect

import (
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishMakesFifo = &Defect{
	Name: "publish-makes-fifo",
	Does: "NodePublishVolume puts a FIFO at the target, and mounts nothing",
	Wrap: func(d *service.Driver) {
		d.Mounts = misplaced{d.Mounts, func(_, target string) error { return unix.Mkfifo(target, 0o644) }}
	},
}
