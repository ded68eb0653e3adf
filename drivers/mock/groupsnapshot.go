package mock

import (
	"context"
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// groupSnapshot is a set of snapshots of several volumes at one point in time.
type groupSnapshot struct {
	id, name  string
	members   []*snapshot
	sources   []string // source volumes in the order of the request
	created   *timestamppb.Timestamp
	pollsLeft int
}

// message describes the group. Each answer about a new group counts down to its readiness.
func (g *groupSnapshot) message() *csi.VolumeGroupSnapshot {
	m := &csi.VolumeGroupSnapshot{GroupSnapshotId: g.id, CreationTime: g.created, ReadyToUse: g.pollsLeft == 0}
	for _, member := range g.members {
		s := member.message()
		s.ReadyToUse = m.ReadyToUse
		m.Snapshots = append(m.Snapshots, s)
	}
	g.pollsLeft = max(0, g.pollsLeft-1)
	return m
}

func (s *Controller) GroupControllerGetCapabilities(context.Context, *csi.GroupControllerGetCapabilitiesRequest) (*csi.GroupControllerGetCapabilitiesResponse, error) {
	if !s.driver.options.GroupSnapshot {
		return nil, notImplemented("GroupControllerGetCapabilities")
	}
	return &csi.GroupControllerGetCapabilitiesResponse{Capabilities: []*csi.GroupControllerServiceCapability{
		{Type: &csi.GroupControllerServiceCapability_Rpc{Rpc: &csi.GroupControllerServiceCapability_RPC{
			Type: csi.GroupControllerServiceCapability_RPC_CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT}}}}}, nil
}

// CreateVolumeGroupSnapshot: CSI "CreateVolumeGroupSnapshot".
func (s *Controller) CreateVolumeGroupSnapshot(_ context.Context, req *csi.CreateVolumeGroupSnapshotRequest) (*csi.CreateVolumeGroupSnapshotResponse, error) {
	d := s.driver
	if !d.options.GroupSnapshot {
		return nil, notImplemented("CreateVolumeGroupSnapshot")
	}
	if err := first(suggestedName(req.GetName()), several("source_volume_ids", req.GetSourceVolumeIds())); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	group := d.groupNames[req.GetName()]
	switch {
	case group == nil || d.faults[groupNotIdempotent]:
		var err error
		if group, err = d.cutTogether(req); err != nil {
			return nil, err
		}
	case !sameSet(group.sources, req.GetSourceVolumeIds()):
		return nil, status.Errorf(codes.AlreadyExists, "group snapshot %s exists as %s of volumes %v", group.name, group.id, group.sources)
	}
	return &csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: group.message()}, nil
}

// cutTogether creates either all snapshots of a group or none.
func (d *Driver) cutTogether(req *csi.CreateVolumeGroupSnapshotRequest) (*groupSnapshot, error) {
	for _, id := range req.GetSourceVolumeIds() {
		if d.volumes[id] == nil {
			return nil, noVolume(id)
		}
	}
	d.groupSerial++
	group := &groupSnapshot{
		id:        d.options.idOf(req.GetName(), fmt.Sprintf("group-%04d", d.groupSerial)),
		name:      req.GetName(),
		sources:   slices.Clone(req.GetSourceVolumeIds()),
		pollsLeft: d.options.SnapshotPolls,
	}
	cut := group.sources
	if d.faults[groupLacksVolume] {
		cut = cut[1:]
	}
	for i, id := range cut {
		member := d.cut(d.volumes[id], fmt.Sprintf("%s/%d", group.name, i))
		if group.created == nil {
			group.created = member.created
		}
		member.group, member.created = group, group.created
		group.members = append(group.members, member)
	}
	d.groups[group.id] = group
	d.groupNames[group.name] = group
	return group, nil
}

// DeleteVolumeGroupSnapshot: CSI "DeleteVolumeGroupSnapshot".
func (s *Controller) DeleteVolumeGroupSnapshot(_ context.Context, req *csi.DeleteVolumeGroupSnapshotRequest) (*csi.DeleteVolumeGroupSnapshotResponse, error) {
	d := s.driver
	if !d.options.GroupSnapshot {
		return nil, notImplemented("DeleteVolumeGroupSnapshot")
	}
	if err := required("group_snapshot_id", req.GetGroupSnapshotId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	group := d.groups[req.GetGroupSnapshotId()]
	if group == nil {
		return &csi.DeleteVolumeGroupSnapshotResponse{}, nil
	}
	if err := group.has(req.GetSnapshotIds()); err != nil {
		return nil, err
	}
	delete(d.groups, group.id)
	if d.groupNames[group.name] == group {
		delete(d.groupNames, group.name)
	}
	if !d.faults[groupDeleteLeaks] {
		for _, member := range group.members {
			d.removeSnapshot(member)
		}
	}
	return &csi.DeleteVolumeGroupSnapshotResponse{}, nil
}

// GetVolumeGroupSnapshot: CSI "GetVolumeGroupSnapshot".
func (s *Controller) GetVolumeGroupSnapshot(_ context.Context, req *csi.GetVolumeGroupSnapshotRequest) (*csi.GetVolumeGroupSnapshotResponse, error) {
	d := s.driver
	if !d.options.GroupSnapshot {
		return nil, notImplemented("GetVolumeGroupSnapshot")
	}
	if err := required("group_snapshot_id", req.GetGroupSnapshotId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	group := d.groups[req.GetGroupSnapshotId()]
	if group == nil {
		return nil, status.Errorf(codes.NotFound, "group snapshot %s does not exist", req.GetGroupSnapshotId())
	}
	if err := group.has(req.GetSnapshotIds()); err != nil {
		return nil, err
	}
	return &csi.GetVolumeGroupSnapshotResponse{GroupSnapshot: group.message()}, nil
}

// has rejects a list of snapshots that differs from the members of the group (CSI
// "DeleteVolumeGroupSnapshot Errors").
func (g *groupSnapshot) has(ids []string) error {
	var own []string
	for _, member := range g.members {
		own = append(own, member.id)
	}
	if !sameSet(own, ids) {
		return invalid("snapshot_ids %v are not those of group snapshot %s: %v", ids, g.id, own)
	}
	return nil
}

func several(field string, values []string) error {
	if len(values) == 0 || slices.Contains(values, "") {
		return invalid("%s is required", field)
	}
	return nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
