//go:build linux

package defect

import (
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

var groupDropsMember = &Defect{
	Name: "group-drops-member",
	Does: "a new volume group lacks its first volume",
	Call: on(func(_ *service.Driver, req *volumegroup.CreateVolumeGroupRequest, next next) (any, error) {
		req = proto.CloneOf(req)
		req.VolumeIds = req.VolumeIds[min(1, len(req.VolumeIds)):]
		return next(req)
	}),
}
