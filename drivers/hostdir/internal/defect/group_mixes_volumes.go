//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var groupMixesVolumes = &Defect{
	Name: "group-mixes-volumes",
	Does: "all snapshots of a group hold the content of its first volume",
	Wrap: func(d *service.Driver) { d.Store = mixingStore{d.Store} },
}

type mixingStore struct{ service.Store }

func (m mixingStore) CreateGroup(name string, volumeIDs []string, source func(int) string) (backend.Group, error) {
	return m.Store.CreateGroup(name, volumeIDs, func(int) string { return source(0) })
}
