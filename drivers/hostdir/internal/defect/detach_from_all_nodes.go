//go:build linux

package defect

import (
	"errors"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var detachFromAllNodes = &Defect{
	Name: "detach-from-all-nodes",
	Does: "ControllerUnpublishVolume detaches a volume from all nodes",
	Wrap: func(d *service.Driver) { d.Store = detachingStore{d.Store} },
}

type detachingStore struct{ service.Store }

func (s detachingStore) Detach(id, _ string) error {
	v, err := s.Store.Volume(id)
	for _, node := range v.AttachedNodes() {
		err = errors.Join(err, s.Store.Detach(id, node))
	}
	return err
}
