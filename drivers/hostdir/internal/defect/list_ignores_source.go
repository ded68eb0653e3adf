//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var listIgnoresSource = &Defect{
	Name: "list-ignores-source",
	Does: "ListSnapshots lists the snapshots of all volumes when asked for those of one",
	Call: on(func(_ *service.Driver, req *csi.ListSnapshotsRequest, next next) (any, error) {
		req = proto.CloneOf(req)
		req.SourceVolumeId = ""
		return next(req)
	}),
}
