//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishIgnoresErrors = &Defect{
	Name: "publish-ignores-errors",
	Does: "NodePublishVolume succeeds when it could not mount",
	Wrap: func(d *service.Driver) { d.Mounts = hopeful{d.Mounts} },
}

// hopeful mounts and assumes success.
type hopeful struct{ service.Mounts }

func (h hopeful) Publish(v backend.Volume, source, target string, flags mount.Flags) error {
	_ = h.Mounts.Publish(v, source, target, flags)
	return nil
}

func (h hopeful) Restrict(target string, flags mount.Flags) error {
	if !mounted(target) {
		return nil
	}
	return h.Mounts.Restrict(target, flags)
}
