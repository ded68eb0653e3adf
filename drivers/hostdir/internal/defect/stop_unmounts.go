//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var stopUnmounts = &Defect{
	Name: "stop-unmounts",
	Does: "the node service unmounts all its recorded mounts when it stops",
	Stop: func(d *service.Driver) { _ = unmountAll(d) }, // the driver ends anyway
}
