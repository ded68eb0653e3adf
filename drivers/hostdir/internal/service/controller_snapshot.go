//go:build linux

package service

import (
	"context"
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
)

func (c *controller) CreateSnapshot(_ context.Context, req *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	if err := require("name", req.GetName(), "source_volume_id", req.GetSourceVolumeId()); err != nil {
		return nil, err
	}
	s, err := c.store.CreateSnapshot(req.GetName(), req.GetSourceVolumeId())
	if err == nil && c.cfg.Broken.Has(broken.SnapshotReplaced) {
		err = c.cutAnew(s)
	}
	if err != nil {
		return nil, answer(err)
	}
	return &csi.CreateSnapshotResponse{Snapshot: describeSnapshot(c.store, s)}, nil
}

// cutAnew replaces the content of the other snapshots of a snapshot's volume by the current one.
func (c *controller) cutAnew(s backend.Snapshot) error {
	all, err := c.store.Snapshots()
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.VolumeID != s.VolumeID || other.ID == s.ID || other.GroupID != "" {
			continue
		}
		if err := c.store.DeleteSnapshot(other.ID); err != nil {
			return err
		}
		if _, err := c.store.CreateSnapshot(other.Name, other.VolumeID); err != nil {
			return err
		}
	}
	return nil
}

func (c *controller) deleteSnapshotsOf(volumeID string) error {
	all, err := c.store.Snapshots()
	for _, s := range all {
		if s.VolumeID == volumeID {
			err = errors.Join(err, c.store.DeleteSnapshot(s.ID))
		}
	}
	return err
}

func (c *controller) DeleteSnapshot(_ context.Context, req *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	if err := require("snapshot_id", req.GetSnapshotId()); err != nil {
		return nil, err
	}
	if err := c.store.DeleteSnapshot(req.GetSnapshotId()); err != nil {
		return nil, answer(err)
	}
	return &csi.DeleteSnapshotResponse{}, nil
}

func describeSnapshot(store *backend.Backend, s backend.Snapshot) *csi.Snapshot {
	return &csi.Snapshot{
		SnapshotId: s.ID, SourceVolumeId: s.VolumeID, GroupSnapshotId: s.GroupID, SizeBytes: s.SizeBytes,
		CreationTime: timestamppb.New(s.Created), ReadyToUse: store.Ready(s.Created),
	}
}
