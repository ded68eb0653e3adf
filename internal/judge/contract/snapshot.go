package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

func (f *findings) snapshotResponse(req, resp proto.Message, caps Caps) {
	switch r := resp.(type) {
	case *csi.CreateSnapshotResponse:
		q, _ := req.(*csi.CreateSnapshotRequest)
		f.snapshot("snapshot", r.GetSnapshot(), caps)
		f.same("snapshot.source_volume_id", r.GetSnapshot().GetSourceVolumeId(), q.GetSourceVolumeId())
	case *csi.GetSnapshotResponse:
		q, _ := req.(*csi.GetSnapshotRequest)
		f.snapshot("snapshot", r.GetSnapshot(), caps)
		f.same("snapshot.snapshot_id", r.GetSnapshot().GetSnapshotId(), q.GetSnapshotId())
	}
}

// snapshot: CSI "CreateSnapshot", message Snapshot.
func (f *findings) snapshot(field string, s *csi.Snapshot, caps Caps) {
	f.required(field, s != nil)
	if s == nil {
		return
	}
	f.required(field+".snapshot_id", s.GetSnapshotId() != "")
	f.required(field+".source_volume_id", s.GetSourceVolumeId() != "")
	f.required(field+".creation_time", s.GetCreationTime() != nil)
	if err := s.GetCreationTime().CheckValid(); s.GetCreationTime() != nil && err != nil {
		f.add(field+".creation_time", "the CSI spec wants a timestamp", "is not valid: %v", err)
	}
	f.notNegative(field+".size_bytes", s.GetSizeBytes())
	f.promised(field+".accessible_topology", len(s.GetAccessibleTopology()) > 0, caps.Plugin, "SNAPSHOT_ACCESSIBILITY_CONSTRAINTS")
	for _, t := range s.GetAccessibleTopology() {
		f.topology(field+".accessible_topology", t)
	}
}

// CSI "ListSnapshots".
func (f *findings) listedSnapshots(req *csi.ListSnapshotsRequest, r *csi.ListSnapshotsResponse, caps Caps) {
	var ids []string
	for _, e := range r.GetEntries() {
		f.snapshot("entries.snapshot", e.GetSnapshot(), caps)
		f.same("entries.snapshot.snapshot_id", e.GetSnapshot().GetSnapshotId(), req.GetSnapshotId())
		f.same("entries.snapshot.source_volume_id", e.GetSnapshot().GetSourceVolumeId(), req.GetSourceVolumeId())
		ids = append(ids, e.GetSnapshot().GetSnapshotId())
	}
	f.page(ids, req.GetMaxEntries())
}
