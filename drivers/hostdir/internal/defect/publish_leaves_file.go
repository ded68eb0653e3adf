//go:build linux

package defect

import (
	"syscall"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishLeavesFile = &Defect{
	Name: "publish-leaves-file",
	Does: "NodePublishVolume opens a file and leaves it open",
	// The opened file is the directory of the backend.
	Wrap: afterPublish(func(d *service.Driver, _ string) error {
		_, err := syscall.Open(d.Backend.Dir(), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		return err
	}),
}
