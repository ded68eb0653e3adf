//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var publishLeavesProcess = &Defect{
	Name: "publish-leaves-process",
	Does: "NodePublishVolume starts a process that never ends",
	Wrap: afterPublish(func(_ *service.Driver, target string) error { return startProcess(target) }),
}
