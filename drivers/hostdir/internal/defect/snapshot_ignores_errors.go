//go:build linux

package defect

import (
	"errors"
	"syscall"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var snapshotIgnoresErrors = &Defect{
	Name: "snapshot-ignores-errors",
	Does: "if the disk is full while a snapshot is cut, the snapshot is empty, and CreateSnapshot succeeds",
	Wrap: func(d *service.Driver) { d.Store = forgivingStore{d.Store, d.Backend} },
}

// forgivingStore cuts an empty snapshot if there is no space for its content.
type forgivingStore struct {
	service.Store
	backend *backend.Backend
}

func (f forgivingStore) CreateSnapshot(name, volumeID string) (backend.Snapshot, error) {
	s, err := f.Store.CreateSnapshot(name, volumeID)
	if !errors.Is(err, syscall.ENOSPC) {
		return s, err
	}
	if s, err = f.Store.CreateSnapshot(name, volumeID); err != nil {
		return s, err
	}
	return s, f.backend.WipeSnapshot(s.ID)
}
