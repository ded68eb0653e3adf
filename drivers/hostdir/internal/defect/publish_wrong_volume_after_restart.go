//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishWrongVolumeAfterRestart = &Defect{
	Name: "publish-wrong-volume-after-restart",
	Does: "after a restart NodePublishVolume shows another volume's content",
	Wrap: func(d *service.Driver) { d.Sources = wrongSources{d.Sources, d} },
}

// wrongSources chooses another volume of the same kind, or the right volume if there is no other.
type wrongSources struct {
	service.Sources
	driver *service.Driver
}

func (w wrongSources) Source(v backend.Volume, staging string, readOnly bool) (string, error) {
	if !w.driver.Restarted {
		return w.Sources.Source(v, staging, readOnly)
	}
	all, err := w.driver.Store.Volumes()
	if err != nil {
		return "", err
	}
	wrong := w.driver.Store.DataPath(v)
	for _, other := range all {
		if other.ID != v.ID && other.Block == v.Block {
			wrong = w.driver.Store.DataPath(other)
		}
	}
	if !v.Block {
		return wrong, nil
	}
	device, err := w.driver.Devices.Attach(wrong, w.driver.Label(v.ID), readOnly)
	return device.Path, err
}
