package contract

import (
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

const (
	groupService   = "GroupController/"
	groupCreate    = groupService + "CreateVolumeGroupSnapshot"
	groupDelete    = groupService + "DeleteVolumeGroupSnapshot"
	groupGet       = groupService + "GetVolumeGroupSnapshot"
	groupSnapshots = "CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT"
)

func (f *findings) groupRequest(req proto.Message) {
	switch r := req.(type) {
	case *csi.CreateVolumeGroupSnapshotRequest:
		f.suggestedName(r.GetName())
		f.required("source_volume_ids", len(r.GetSourceVolumeIds()) > 0)
	case *csi.DeleteVolumeGroupSnapshotRequest:
		f.required("group_snapshot_id", r.GetGroupSnapshotId() != "")
		f.required("snapshot_ids", len(r.GetSnapshotIds()) > 0)
	case *csi.GetVolumeGroupSnapshotRequest:
		f.required("group_snapshot_id", r.GetGroupSnapshotId() != "")
		f.required("snapshot_ids", len(r.GetSnapshotIds()) > 0)
	}
}

func (f *findings) groupResponse(req, resp proto.Message, caps Caps) {
	switch r := resp.(type) {
	case *csi.GroupControllerGetCapabilitiesResponse:
		for _, name := range groupNames(r) {
			f.required("capabilities.rpc.type", name != "UNKNOWN")
		}
	case *csi.CreateVolumeGroupSnapshotResponse:
		q, _ := req.(*csi.CreateVolumeGroupSnapshotRequest)
		f.group(r.GetGroupSnapshot(), caps)
		f.cutOf(r.GetGroupSnapshot(), q.GetSourceVolumeIds())
	case *csi.GetVolumeGroupSnapshotResponse:
		q, _ := req.(*csi.GetVolumeGroupSnapshotRequest)
		f.group(r.GetGroupSnapshot(), caps)
		f.same("group_snapshot.group_snapshot_id", r.GetGroupSnapshot().GetGroupSnapshotId(), q.GetGroupSnapshotId())
	}
}

// group: CSI "CreateVolumeGroupSnapshot", message VolumeGroupSnapshot.
func (f *findings) group(g *csi.VolumeGroupSnapshot, caps Caps) {
	f.required("group_snapshot", g != nil)
	if g == nil {
		return
	}
	f.required("group_snapshot.group_snapshot_id", g.GetGroupSnapshotId() != "")
	f.required("group_snapshot.creation_time", g.GetCreationTime() != nil)
	f.required("group_snapshot.snapshots", len(g.GetSnapshots()) > 0)
	for _, s := range g.GetSnapshots() {
		f.snapshot("group_snapshot.snapshots", s, caps)
		if in := s.GetGroupSnapshotId(); in != "" && in != g.GetGroupSnapshotId() {
			f.add("group_snapshot.snapshots.group_snapshot_id", "the CSI spec wants that of the group", "is %s in group %s", in, g.GetGroupSnapshotId())
		}
		if g.GetReadyToUse() && !s.GetReadyToUse() {
			f.add("group_snapshot.ready_to_use", "the CSI spec wants false while a snapshot of the group is not ready", "is true, snapshot %s is not ready", s.GetSnapshotId())
		}
	}
}

// cutOf checks that a group has exactly one snapshot of each requested volume. A snapshot that does
// not name its volume is not checked here, because another check requires the name.
func (f *findings) cutOf(g *csi.VolumeGroupSnapshot, volumes []string) {
	var sources []string
	for _, s := range g.GetSnapshots() {
		sources = append(sources, s.GetSourceVolumeId())
	}
	slices.Sort(sources)
	wanted := slices.Sorted(slices.Values(volumes))
	if g != nil && len(wanted) > 0 && len(sources) > 0 && !slices.Contains(sources, "") && !slices.Equal(sources, wanted) {
		f.add("group_snapshot.snapshots", fmt.Sprintf("the CSI spec wants one of each volume: %v", wanted), "are of %v", sources)
	}
}
