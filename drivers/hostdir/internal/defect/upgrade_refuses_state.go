//go:build linux

package defect

import (
	"errors"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var upgradeRefusesState = &Defect{
	Name: "upgrade-refuses-state",
	Does: "this release does not start if there are volumes of the old release",
	Upgrade: func(d *service.Driver) error {
		volumes, err := d.Store.Volumes()
		if err == nil && len(volumes) > 0 {
			err = errors.New("record.json: unknown format")
		}
		return err
	},
}
