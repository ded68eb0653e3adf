//go:build linux

package service

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/internal/world/addons/replication"
)

// replicationController manages second copies of volumes and of groups of volumes.
type replicationController struct {
	replication.UnimplementedControllerServer
	store *backend.Backend
}

// members returns the volumes of a source.
func (r replicationController) members(s *replication.ReplicationSource) ([]string, error) {
	if id := s.GetVolumegroup().GetVolumeGroupId(); id != "" {
		g, err := r.store.VolumeGroup(id)
		return g.VolumeIDs, Answer(err)
	}
	id := s.GetVolume().GetVolumeId()
	if err := require("replication_source", id); err != nil {
		return nil, err
	}
	return []string{id}, nil
}

// each calls do with every volume of a source.
func (r replicationController) each(s *replication.ReplicationSource, do func(id string) error) error {
	ids, err := r.members(s)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := do(id); err != nil {
			return replicationAnswer(err)
		}
	}
	return nil
}

// replicationAnswer is like answer, but with the codes of CSI-Addons.
func replicationAnswer(err error) error {
	switch {
	case errors.Is(err, backend.ErrNotReplicated), errors.Is(err, backend.ErrNotDemoted), errors.Is(err, backend.ErrPrimaryAway):
		return precondition("%v", err)
	case errors.Is(err, backend.ErrPrimaryThere):
		return status.Error(codes.Aborted, err.Error())
	case errors.Is(err, backend.ErrUnreachable):
		return status.Error(codes.Unavailable, err.Error())
	}
	return Answer(err)
}

// EnableVolumeReplication starts the replication.
func (r replicationController) EnableVolumeReplication(_ context.Context, req *replication.EnableVolumeReplicationRequest) (*replication.EnableVolumeReplicationResponse, error) {
	return &replication.EnableVolumeReplicationResponse{}, r.each(req.GetReplicationSource(), r.store.Replicate)
}

// DisableVolumeReplication removes the copies.
func (r replicationController) DisableVolumeReplication(_ context.Context, req *replication.DisableVolumeReplicationRequest) (*replication.DisableVolumeReplicationResponse, error) {
	return &replication.DisableVolumeReplicationResponse{}, r.each(req.GetReplicationSource(), r.store.Unreplicate)
}

// PromoteVolume makes volumes writable. If the other site may be primary and is unreachable, the
// answer is FailedPrecondition, which force overrides.
func (r replicationController) PromoteVolume(_ context.Context, req *replication.PromoteVolumeRequest) (*replication.PromoteVolumeResponse, error) {
	return &replication.PromoteVolumeResponse{}, r.each(req.GetReplicationSource(), func(id string) error { return r.store.Promote(id, req.GetForce()) })
}

// DemoteVolume makes volumes read-only. An attached volume is in use.
func (r replicationController) DemoteVolume(_ context.Context, req *replication.DemoteVolumeRequest) (*replication.DemoteVolumeResponse, error) {
	return &replication.DemoteVolumeResponse{}, r.each(req.GetReplicationSource(), func(id string) error { return r.store.Demote(id, req.GetForce()) })
}

// ResyncVolume creates the copies anew.
func (r replicationController) ResyncVolume(_ context.Context, req *replication.ResyncVolumeRequest) (*replication.ResyncVolumeResponse, error) {
	ready := true
	err := r.each(req.GetReplicationSource(), func(id string) error {
		synced, err := r.store.Resync(id, req.GetForce())
		ready = ready && synced
		return err
	})
	return &replication.ResyncVolumeResponse{Ready: ready}, err
}

// GetVolumeReplicationInfo reports the last synchronization. For a group, it reports the oldest
// synchronization of its volumes, and the sum of their bytes.
func (r replicationController) GetVolumeReplicationInfo(_ context.Context, req *replication.GetVolumeReplicationInfoRequest) (*replication.GetVolumeReplicationInfoResponse, error) {
	var oldest backend.Replica
	bytes := int64(0)
	err := r.each(req.GetReplicationSource(), func(id string) error {
		copy, err := r.store.Synchronize(id)
		if err == nil && (oldest.VolumeID == "" || copy.Synced.Before(oldest.Synced)) {
			oldest = copy
		}
		bytes += copy.Bytes
		return err
	})
	if err != nil {
		return nil, err
	}
	return &replication.GetVolumeReplicationInfoResponse{
		LastSyncTime: timestamppb.New(oldest.Synced), LastSyncDuration: durationpb.New(oldest.Took), LastSyncBytes: bytes,
		Status: replication.GetVolumeReplicationInfoResponse_HEALTHY,
	}, nil
}

// GetReplicationDestinationInfo names the copies.
func (r replicationController) GetReplicationDestinationInfo(_ context.Context, req *replication.GetReplicationDestinationInfoRequest) (*replication.GetReplicationDestinationInfoResponse, error) {
	copies := map[string]string{}
	err := r.each(req.GetReplicationSource(), func(id string) error {
		_, err := r.store.Volume(id)
		copies[id] = r.store.CopyID(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	to := &replication.ReplicationDestination{}
	if group := req.GetReplicationSource().GetVolumegroup().GetVolumeGroupId(); group != "" {
		to.Type = &replication.ReplicationDestination_Volumegroup{Volumegroup: &replication.ReplicationDestination_VolumeGroupDestination{
			VolumeGroupId: r.store.CopyID(group), VolumeIds: copies,
		}}
	} else {
		to.Type = &replication.ReplicationDestination_Volume{Volume: &replication.ReplicationDestination_VolumeDestination{
			VolumeId: copies[req.GetReplicationSource().GetVolume().GetVolumeId()],
		}}
	}
	return &replication.GetReplicationDestinationInfoResponse{ReplicationDestination: to}, nil
}
