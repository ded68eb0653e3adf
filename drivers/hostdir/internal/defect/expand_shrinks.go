//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var expandShrinks = &Defect{
	Name: "expand-shrinks",
	Does: "ControllerExpandVolume makes a volume that is larger than required smaller",
	Wrap: onExpand(func(d *service.Driver, _ service.Store, id string, required, _ int64) (backend.Volume, error) {
		return d.Backend.Resize(id, required)
	}),
}
