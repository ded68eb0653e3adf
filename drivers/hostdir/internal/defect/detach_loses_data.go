//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var detachLosesData = &Defect{
	Name: "detach-loses-data",
	Does: "ControllerUnpublishVolume takes the volume's content away",
	Wrap: func(d *service.Driver) { d.Store = losingStore{d.Store, d.Backend} },
}

type losingStore struct {
	service.Store
	backend *backend.Backend
}

func (s losingStore) Detach(id, nodeID string) error {
	v, err := s.Store.Volume(id)
	if err == nil {
		err = s.Store.Detach(id, nodeID)
	}
	if err == nil {
		err = s.backend.Wipe(v)
	}
	return err
}
