//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var topologyFirstRequisite = &Defect{
	Name: "topology-first-requisite",
	Does: "CreateVolume places a volume by the first requisite term, whatever is preferred",
	Call: on(func(_ *service.Driver, req *csi.CreateVolumeRequest, next next) (any, error) {
		req = proto.CloneOf(req)
		if req.GetAccessibilityRequirements() != nil {
			req.AccessibilityRequirements.Preferred = nil
		}
		return next(req)
	}),
}
