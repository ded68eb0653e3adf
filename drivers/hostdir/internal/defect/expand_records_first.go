//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var expandRecordsFirst = &Defect{
	Name: "expand-records-first",
	Does: "ControllerExpandVolume records the size of a block volume before its image has it, and trusts the record",
	Wrap: onExpand(func(d *service.Driver, _ service.Store, id string, required, limit int64) (backend.Volume, error) {
		return d.Backend.RecordAndExpandVolume(id, required, limit)
	}),
}
