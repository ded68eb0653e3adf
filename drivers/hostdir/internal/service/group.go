//go:build linux

package service

import (
	"context"
	"errors"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

// groups snapshots several volumes at once.
type groups struct {
	csi.UnimplementedGroupControllerServer
	store Store
}

func (groups) GroupControllerGetCapabilities(context.Context, *csi.GroupControllerGetCapabilitiesRequest) (*csi.GroupControllerGetCapabilitiesResponse, error) {
	const all = csi.GroupControllerServiceCapability_RPC_CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT
	return &csi.GroupControllerGetCapabilitiesResponse{Capabilities: []*csi.GroupControllerServiceCapability{{
		Type: &csi.GroupControllerServiceCapability_Rpc{Rpc: &csi.GroupControllerServiceCapability_RPC{Type: all}},
	}}}, nil
}

func (g groups) CreateVolumeGroupSnapshot(_ context.Context, req *csi.CreateVolumeGroupSnapshotRequest) (*csi.CreateVolumeGroupSnapshotResponse, error) {
	volumes := req.GetSourceVolumeIds()
	if err := require("name", req.GetName()); err != nil {
		return nil, err
	}
	if len(volumes) == 0 {
		return nil, invalid("source_volume_ids is required")
	}
	group, err := g.store.CreateGroup(req.GetName(), volumes, func(i int) string { return volumes[i] })
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: describeGroup(g.store, group)}, nil
}

func (g groups) DeleteVolumeGroupSnapshot(_ context.Context, req *csi.DeleteVolumeGroupSnapshotRequest) (*csi.DeleteVolumeGroupSnapshotResponse, error) {
	if err := require("group_snapshot_id", req.GetGroupSnapshotId()); err != nil {
		return nil, err
	}
	group, err := g.store.Group(req.GetGroupSnapshotId())
	if err == nil {
		err = hasMembers(group, req.GetSnapshotIds())
	}
	if err == nil || errors.Is(err, backend.ErrNotFound) {
		err = g.store.DeleteGroup(req.GetGroupSnapshotId())
	}
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.DeleteVolumeGroupSnapshotResponse{}, nil
}

func (g groups) GetVolumeGroupSnapshot(_ context.Context, req *csi.GetVolumeGroupSnapshotRequest) (*csi.GetVolumeGroupSnapshotResponse, error) {
	if err := require("group_snapshot_id", req.GetGroupSnapshotId()); err != nil {
		return nil, err
	}
	group, err := g.store.Group(req.GetGroupSnapshotId())
	if err == nil {
		err = hasMembers(group, req.GetSnapshotIds())
	}
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.GetVolumeGroupSnapshotResponse{GroupSnapshot: describeGroup(g.store, group)}, nil
}

// hasMembers rejects a list of snapshots that differs from the group's.
func hasMembers(g backend.Group, ids []string) error {
	if len(ids) > 0 && !slices.Equal(slices.Sorted(slices.Values(ids)), g.MemberIDs()) {
		return invalid("snapshot_ids are %v, group %s has %v", ids, g.ID, g.MemberIDs())
	}
	return nil
}

func describeGroup(store Store, g backend.Group) *csi.VolumeGroupSnapshot {
	m := &csi.VolumeGroupSnapshot{GroupSnapshotId: g.ID, CreationTime: timestamppb.New(g.Created), ReadyToUse: store.Ready(g.Created)}
	for _, s := range g.Members {
		m.Snapshots = append(m.Snapshots, describeSnapshot(store, s))
	}
	return m
}
