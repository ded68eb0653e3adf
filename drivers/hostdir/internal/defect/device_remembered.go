//go:build linux

package defect

import (
	"sync"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deviceRemembered = &Defect{
	Name: "device-remembered",
	Does: "NodePublishVolume takes the loop device that a block volume had when it was published first",
	Wrap: func(d *service.Driver) { d.Sources = &firstDevices{Sources: d.Sources, driver: d} },
}

// firstDevices finds the first device of a staged volume.
type firstDevices struct {
	service.Sources
	driver *service.Driver
	known  sync.Map
}

func (f *firstDevices) Source(v backend.Volume, staging string, readOnly bool) (string, error) {
	device, err := f.Sources.Source(v, staging, readOnly)
	if err != nil || !v.Block || !f.driver.Config.Stage {
		return device, err
	}
	first, _ := f.known.LoadOrStore(v.ID, device)
	return first.(string), nil
}
