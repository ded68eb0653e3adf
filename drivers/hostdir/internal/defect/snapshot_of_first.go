//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var snapshotOfFirst = &Defect{
	Name: "snapshot-of-first",
	Does: "a snapshot holds the content of the first volume that there is",
	Wrap: func(d *service.Driver) { d.Store = firstStore{d.Store, d.Backend} },
}

// firstStore cuts each snapshot of the first volume.
type firstStore struct {
	service.Store
	backend *backend.Backend
}

func (f firstStore) CreateSnapshot(name, volumeID string) (backend.Snapshot, error) {
	s, err := f.Store.CreateSnapshot(name, volumeID)
	if err != nil {
		return s, err
	}
	all, err := f.backend.Volumes()
	if err != nil || len(all) == 0 || all[0].Block {
		return s, err
	}
	return s, f.backend.RefillSnapshot(s.ID, all[0])
}
