//go:build linux

package defect

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var listFailsForUnknown = &Defect{
	Name: "list-fails-for-unknown",
	Does: "ListSnapshots fails for the id of a snapshot that does not exist",
	Call: before(func(d *service.Driver, req *csi.ListSnapshotsRequest) error {
		all, err := d.Store.Snapshots()
		if err != nil || req.GetSnapshotId() == "" || slices.ContainsFunc(all, func(s backend.Snapshot) bool { return s.ID == req.GetSnapshotId() }) {
			return err
		}
		return status.Errorf(codes.NotFound, "snapshot %s does not exist", req.GetSnapshotId())
	}),
}
