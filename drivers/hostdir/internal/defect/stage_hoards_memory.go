//go:build linux

package defect

import (
	"time"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var stageHoardsMemory = &Defect{
	Name: "stage-hoards-memory",
	Does: "NodeStageVolume takes 64 MiB of memory each time, and keeps them",
	Wrap: onStage(func(_ *service.Driver, next service.Mounts, v backend.Volume, content, staging string) error {
		hoardMemory()
		return next.Stage(v, content, staging)
	}),
}

// hoard keeps the memory of hoardMemory.
var hoard [][]byte

// hoardMemory allocates 64 MiB and keeps them. It takes some time, so that the driver's memory can
// be measured.
func hoardMemory() {
	const size, page = 64 << 20, 4 << 10
	more := make([]byte, size)
	for i := 0; i < size; i += page {
		more[i] = 1 // untouched pages occupy no memory
	}
	hoard = append(hoard, more)
	time.Sleep(300 * time.Millisecond)
}
