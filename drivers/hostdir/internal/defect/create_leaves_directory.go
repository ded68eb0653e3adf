//go:build linux

package defect

import (
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var createLeavesDirectory = &Defect{
	Name: "create-leaves-directory",
	Does: "CreateVolume prepares volumes in a directory of a random name, and leaves it when it fails",
	Wrap: onCreate(func(d *service.Driver, next service.Store, spec backend.VolumeSpec) (v backend.Volume, err error) {
		own, err := os.MkdirTemp(d.Backend.Dir(), "preparing-")
		if err != nil {
			return v, err
		}
		if v, err = next.CreateVolume(spec); err != nil {
			return v, err
		}
		return v, os.Remove(own)
	}),
}
