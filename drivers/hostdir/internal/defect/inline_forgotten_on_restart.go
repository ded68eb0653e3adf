//go:build linux

package defect

import (
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var inlineForgottenOnRestart = &Defect{
	Name: "inline-forgotten-on-restart",
	Does: "after a restart NodeUnpublishVolume does not know inline volumes any more",
	Call: forgetInlines(),
}

func forgetInlines() Call {
	var known sync.Map // the volumes that this instance has published
	return both(
		after(func(_ *service.Driver, req *csi.NodePublishVolumeRequest, _ *csi.NodePublishVolumeResponse) error {
			known.Store(req.GetVolumeId(), true)
			return nil
		}),
		before(func(d *service.Driver, req *csi.NodeUnpublishVolumeRequest) error {
			id := req.GetVolumeId()
			if _, is := known.Load(id); d.Restarted && service.InlineID.MatchString(id) && !is {
				return status.Errorf(codes.NotFound, "volume %s is not published", id)
			}
			return nil
		}))
}
