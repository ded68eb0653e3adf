//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var snapshotReplacesOthers = &Defect{
	Name: "snapshot-replaces-others",
	Does: "a snapshot of a volume replaces the content of its earlier ones",
	Wrap: func(d *service.Driver) { d.Store = replacingStore{d.Store} },
}

// replacingStore overwrites the other snapshots of a volume with the current content.
type replacingStore struct{ service.Store }

func (r replacingStore) CreateSnapshot(name, volumeID string) (backend.Snapshot, error) {
	s, err := r.Store.CreateSnapshot(name, volumeID)
	if err == nil {
		err = r.replace(s)
	}
	return s, err
}

func (r replacingStore) replace(s backend.Snapshot) error {
	all, err := r.Snapshots()
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.VolumeID != s.VolumeID || other.ID == s.ID || other.GroupID != "" {
			continue
		}
		if err := r.DeleteSnapshot(other.ID); err != nil {
			return err
		}
		if _, err := r.Store.CreateSnapshot(other.Name, other.VolumeID); err != nil {
			return err
		}
	}
	return nil
}
