//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var listPanics = &Defect{
	Name: "list-panics",
	Does: "ListVolumes panics",
	Call: before(func(*service.Driver, *csi.ListVolumesRequest) error {
		panic("no page")
	}),
}
