//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var detachLeavesAttachment = &Defect{
	Name: "detach-leaves-attachment",
	Does: "ControllerUnpublishVolume succeeds and leaves the volume attached",
	Wrap: func(d *service.Driver) { d.Store = stickyStore{d.Store} },
}

type stickyStore struct{ service.Store }

func (stickyStore) Detach(string, string) error { return nil }
