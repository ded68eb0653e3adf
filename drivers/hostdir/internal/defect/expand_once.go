//go:build linux

package defect

import (
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var expandOnce = &Defect{
	Name: "expand-once",
	Does: "ControllerExpandVolume refuses to make a volume larger a second time",
	Wrap: func(d *service.Driver) {
		var grown sync.Map // volumes that have grown, by their ids
		onExpand(func(_ *service.Driver, next service.Store, id string, required, limit int64) (backend.Volume, error) {
			v, err := next.Volume(id)
			if _, again := grown.LoadOrStore(id, true); again && err == nil && required > v.CapacityBytes {
				return v, status.Errorf(codes.OutOfRange, "volume %s has grown already", id)
			}
			return next.ExpandVolume(id, required, limit)
		})(d)
	},
}
