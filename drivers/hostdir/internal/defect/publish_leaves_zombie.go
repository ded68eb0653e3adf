//go:build linux

package defect

import (
	"os/exec"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishLeavesZombie = &Defect{
	Name: "publish-leaves-zombie",
	Does: "NodePublishVolume starts a program and does not wait for it",
	Wrap: afterPublish(func(*service.Driver, string) error { return exec.Command("true").Start() }),
}
