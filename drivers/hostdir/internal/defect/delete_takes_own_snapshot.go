//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deleteTakesOwnSnapshot = &Defect{
	Name: "delete-takes-own-snapshot",
	Does: "DeleteVolume deletes the snapshot that the volume was made from",
	Call: beforeDeletion(func(d *service.Driver, v backend.Volume) error {
		if v.Source.SnapshotID == "" {
			return nil
		}
		return d.Store.DeleteSnapshot(v.Source.SnapshotID)
	}),
}
