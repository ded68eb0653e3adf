//go:build linux

package service

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

func (c *controller) CreateSnapshot(_ context.Context, req *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	if err := require("name", req.GetName(), "source_volume_id", req.GetSourceVolumeId()); err != nil {
		return nil, err
	}
	s, err := c.store.CreateSnapshot(req.GetName(), req.GetSourceVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.CreateSnapshotResponse{Snapshot: describeSnapshot(c.store, s)}, nil
}

func (c *controller) DeleteSnapshot(_ context.Context, req *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	if err := require("snapshot_id", req.GetSnapshotId()); err != nil {
		return nil, err
	}
	if err := c.store.DeleteSnapshot(req.GetSnapshotId()); err != nil {
		return nil, Answer(err)
	}
	return &csi.DeleteSnapshotResponse{}, nil
}

func describeSnapshot(store Store, s backend.Snapshot) *csi.Snapshot {
	return &csi.Snapshot{
		SnapshotId: s.ID, SourceVolumeId: s.VolumeID, GroupSnapshotId: s.GroupID, SizeBytes: s.SizeBytes,
		CreationTime: timestamppb.New(s.Created), ReadyToUse: store.Ready(s.Created),
	}
}
