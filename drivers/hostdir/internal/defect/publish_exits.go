//go:build linux

package defect

import (
	"log"
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishExits = &Defect{
	Name: "publish-exits",
	Does: "NodePublishVolume ends the program with exit status 3 when it has mounted",
	Wrap: afterPublish(func(*service.Driver, string) error {
		log.Print("giving up")
		os.Exit(3)
		return nil
	}),
}
