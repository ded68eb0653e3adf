//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var startUnmounts = &Defect{
	Name:  "start-unmounts",
	Does:  "the node service unmounts all its recorded mounts when it starts",
	Start: unmountAll,
}

// unmountAll unmounts all mounts of earlier instances.
func unmountAll(d *service.Driver) error {
	if !d.Config.Node {
		return nil
	}
	return d.UnmountAll()
}
