//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var copyStaysSmall = &Defect{
	Name: "copy-stays-small",
	Does: "a block volume made from another one, or from a snapshot, is as small as that",
	Wrap: onCreate(func(d *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		v, err := next.CreateVolume(spec)
		if err == nil && spec.Block && spec.Source != (backend.Source{}) {
			err = d.Backend.Shrink(v)
		}
		return v, err
	}),
}
