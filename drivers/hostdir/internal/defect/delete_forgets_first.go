//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deleteForgetsFirst = &Defect{
	Name: "delete-forgets-first",
	Does: "DeleteVolume removes the record of a volume before its content, and a repeated call finds nothing to delete",
	Call: beforeDeletion(func(d *service.Driver, v backend.Volume) error { return d.Backend.DeleteInParts(v) }),
}
