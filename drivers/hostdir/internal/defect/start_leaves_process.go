//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var startLeavesProcess = &Defect{
	Name:  "start-leaves-process",
	Does:  "the program starts a process when it starts, and leaves it running when it ends",
	Start: func(d *service.Driver) error { return startProcess(d.Config.NodeID) },
}
