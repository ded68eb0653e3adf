//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var snapshotIgnoresSource = &Defect{
	Name: "snapshot-ignores-source",
	Does: "CreateSnapshot answers with the snapshot of that name, whichever volume it is of",
	Wrap: func(d *service.Driver) { d.Store = sourcelessStore{d.Store} },
}

// sourcelessStore finds snapshots only by their names.
type sourcelessStore struct{ service.Store }

func (s sourcelessStore) CreateSnapshot(name, volumeID string) (backend.Snapshot, error) {
	all, err := s.Snapshots()
	if err != nil {
		return backend.Snapshot{}, err
	}
	for _, old := range all {
		if old.ID == backend.SnapshotID(name) {
			return old, nil
		}
	}
	return s.Store.CreateSnapshot(name, volumeID)
}
