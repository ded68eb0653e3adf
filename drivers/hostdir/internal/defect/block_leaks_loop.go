//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/loop"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var blockLeaksLoop = &Defect{
	Name: "block-leaks-loop",
	Does: "the loop device of a block volume is never detached",
	Wrap: func(d *service.Driver) { d.Devices = leakedDevices{d.Devices} },
}

type leakedDevices struct{ service.Devices }

func (leakedDevices) Detach(loop.Device) error { return nil }
