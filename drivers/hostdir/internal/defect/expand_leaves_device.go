//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/loop"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var expandLeavesDevice = &Defect{
	Name: "expand-leaves-device",
	Does: "NodeExpandVolume reports the new size of a block volume and leaves its loop device as it is",
	Wrap: func(d *service.Driver) { d.Devices = rigidDevices{d.Devices} },
}

type rigidDevices struct{ service.Devices }

func (rigidDevices) Refresh(loop.Device) error { return nil }
