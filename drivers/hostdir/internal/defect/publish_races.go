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

// countPublished counts a call, and returns the count. Two goroutines write the counter without a
// lock.
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
