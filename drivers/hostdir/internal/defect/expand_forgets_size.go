//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var expandForgetsSize = &Defect{
	Name: "expand-forgets-size",
	Does: "ControllerExpandVolume reports the new size and keeps the old one",
	Wrap: onExpand(func(_ *service.Driver, next service.Store, id string, required, _ int64) (backend.Volume, error) {
		v, err := next.Volume(id)
		v.CapacityBytes = max(required, v.CapacityBytes)
		return v, err
	}),
}
