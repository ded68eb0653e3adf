//go:build linux

package defect

import (
	"log"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishRaces = &Defect{
	Name: "publish-races",
	Does: "NodePublishVolume counts its calls in a variable that two goroutines write without a lock",
	Call: before(func(*service.Driver, *csi.NodePublishVolumeRequest) error {
		log.Printf("%d publish calls so far", countPublished())
		return nil
	}),
}

var published int

// countPublished counts a call in two goroutines that write a variable without a lock, and returns
// the count.
func countPublished() int {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 100 {
				published++
			}
		})
	}
	both.Wait()
	return published
}
