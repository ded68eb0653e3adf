//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var attachToManyNodes = &Defect{
	Name: "attach-to-many-nodes",
	Does: "ControllerPublishVolume attaches a single-node volume to several nodes",
	Wrap: func(d *service.Driver) { d.Store = sharingStore{d.Store} },
}

type sharingStore struct{ service.Store }

func (s sharingStore) Attach(id, nodeID string, a backend.Attachment, _ bool) (backend.Volume, error) {
	return s.Store.Attach(id, nodeID, a, false)
}
