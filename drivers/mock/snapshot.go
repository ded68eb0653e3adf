package mock

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// message describes the snapshot. Each answer about a new snapshot counts down to its readiness.
func (s *snapshot) message() *csi.Snapshot {
	m := &csi.Snapshot{
		SnapshotId:     s.id,
		SourceVolumeId: s.sourceID,
		SizeBytes:      s.bytes,
		CreationTime:   s.created,
		ReadyToUse:     s.pollsLeft == 0,
	}
	if s.group != nil {
		m.GroupSnapshotId = s.group.id
	}
	s.pollsLeft = max(0, s.pollsLeft-1)
	return m
}

// CreateSnapshot: CSI "CreateSnapshot".
func (s *Controller) CreateSnapshot(_ context.Context, req *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	d := s.driver
	if !d.options.Snapshot {
		return nil, notImplemented("CreateSnapshot")
	}
	if err := first(required("source_volume_id", req.GetSourceVolumeId()), suggestedName(req.GetName())); err != nil {
		return nil, err
	}
	if req.GetAccessibilityRequirements() != nil {
		return nil, invalid("accessibility_requirements needs the capability SNAPSHOT_ACCESSIBILITY_CONSTRAINTS")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	snap := d.snapshotName[req.GetName()]
	if d.faults[snapshotsShareID] {
		for _, other := range d.snapshotsInOrder() {
			if other.sourceID == req.GetSourceVolumeId() {
				snap = other
			}
		}
	}
	switch {
	case snap == nil || d.faults[snapshotNotIdempotent]:
		v := d.volumes[req.GetSourceVolumeId()]
		if v == nil {
			return nil, noVolume(req.GetSourceVolumeId())
		}
		snap = d.cut(v, req.GetName())
	case snap.sourceID != req.GetSourceVolumeId():
		return nil, status.Errorf(codes.AlreadyExists, "snapshot %s exists as %s of volume %s", snap.name, snap.id, snap.sourceID)
	}
	return &csi.CreateSnapshotResponse{Snapshot: snap.message()}, nil
}

func (d *Driver) cut(v *volume, name string) *snapshot {
	d.snapSerial++
	snap := &snapshot{
		serial:    d.snapSerial,
		id:        d.options.idOf(name, fmt.Sprintf("snap-%04d", d.snapSerial)),
		name:      name,
		sourceID:  v.id,
		bytes:     v.bytes,
		pollsLeft: d.options.SnapshotPolls,
	}
	if !d.faults[snapshotWithoutTime] {
		snap.created = d.now()
	}
	d.snapshots[snap.id] = snap
	d.snapshotName[name] = snap
	_ = d.copyContent(v.id, snap.id) // the data check detects missing data
	return snap
}

// DeleteSnapshot: CSI "DeleteSnapshot".
func (s *Controller) DeleteSnapshot(_ context.Context, req *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	d := s.driver
	if !d.options.Snapshot {
		return nil, notImplemented("DeleteSnapshot")
	}
	if err := required("snapshot_id", req.GetSnapshotId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	snap := d.snapshots[req.GetSnapshotId()]
	switch {
	case snap == nil && d.faults[snapshotDeleteNotIdempotent]:
		return nil, status.Errorf(codes.NotFound, "snapshot %s does not exist", req.GetSnapshotId())
	case snap == nil:
	case snap.group != nil && d.groups[snap.group.id] != nil:
		return nil, invalid("snapshot %s is part of group snapshot %s", snap.id, snap.group.id)
	default:
		d.removeSnapshot(snap)
	}
	return &csi.DeleteSnapshotResponse{}, nil
}

func (d *Driver) removeSnapshot(snap *snapshot) {
	delete(d.snapshots, snap.id)
	d.dropContent(snap.id)
	if d.snapshotName[snap.name] == snap {
		delete(d.snapshotName, snap.name)
	}
}

// ListSnapshots: CSI "ListSnapshots", oldest first.
func (s *Controller) ListSnapshots(_ context.Context, req *csi.ListSnapshotsRequest) (*csi.ListSnapshotsResponse, error) {
	d := s.driver
	if !d.options.ListSnapshots {
		return nil, notImplemented("ListSnapshots")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var wanted []*snapshot
	for _, snap := range d.snapshotsInOrder() {
		if (req.GetSnapshotId() == "" || req.GetSnapshotId() == snap.id) &&
			(req.GetSourceVolumeId() == "" || req.GetSourceVolumeId() == snap.sourceID) {
			wanted = append(wanted, snap)
		}
	}
	snaps, next, err := page(wanted, func(s *snapshot) int { return s.serial }, d.snapSerial,
		d.maxEntries(req.GetMaxEntries()), req.GetStartingToken())
	if err != nil {
		return nil, err
	}
	resp := &csi.ListSnapshotsResponse{NextToken: next}
	for _, snap := range snaps {
		resp.Entries = append(resp.Entries, &csi.ListSnapshotsResponse_Entry{Snapshot: snap.message()})
	}
	return resp, nil
}

// GetSnapshot: CSI "GetSnapshot".
func (s *Controller) GetSnapshot(_ context.Context, req *csi.GetSnapshotRequest) (*csi.GetSnapshotResponse, error) {
	d := s.driver
	if !d.options.GetSnapshot {
		return nil, notImplemented("GetSnapshot")
	}
	if err := required("snapshot_id", req.GetSnapshotId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	snap := d.snapshots[req.GetSnapshotId()]
	if snap == nil {
		return nil, status.Errorf(codes.NotFound, "snapshot %s does not exist", req.GetSnapshotId())
	}
	return &csi.GetSnapshotResponse{Snapshot: snap.message()}, nil
}
