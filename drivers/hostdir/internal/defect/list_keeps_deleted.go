//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var listKeepsDeleted = &Defect{
	Name: "list-keeps-deleted",
	Does: "ListSnapshots with the id of a deleted snapshot lists it",
	Call: after(func(_ *service.Driver, req *csi.ListSnapshotsRequest, answer *csi.ListSnapshotsResponse) error {
		if req.GetSnapshotId() != "" && len(answer.GetEntries()) == 0 {
			answer.Entries = []*csi.ListSnapshotsResponse_Entry{{Snapshot: &csi.Snapshot{
				SnapshotId: req.GetSnapshotId(), SourceVolumeId: "unknown", CreationTime: timestamppb.Now(), ReadyToUse: true,
			}}}
		}
		return nil
	}),
}
