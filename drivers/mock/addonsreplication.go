package mock

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/replication"
)

// AddonsReplication serves replication.
type AddonsReplication struct {
	replication.UnimplementedControllerServer
	*AddonsIdentity
}

// serveSource answers a call about a volume or group.
func serveSource[A any](s AddonsReplication, rpc string, source *replication.ReplicationSource, answer func(id string) (*A, error)) (*A, error) {
	return serve(s.AddonsIdentity, rpc, "volume_replication.VOLUME_REPLICATION", func() (*A, error) {
		id, err := s.driver.sourceID(source)
		if err != nil {
			return nil, err
		}
		return answer(id)
	})
}

// serveReplicas calls do for each volume of a source, in a call with an empty answer.
func serveReplicas[A any](s AddonsReplication, rpc string, source *replication.ReplicationSource, do func(id string) error) (*A, error) {
	return serveSource(s, rpc, source, func(id string) (*A, error) {
		return new(A), s.driver.eachReplica(id, do)
	})
}

// EnableVolumeReplication starts the replication of a volume or group.
func (s AddonsReplication) EnableVolumeReplication(_ context.Context, r *replication.EnableVolumeReplicationRequest) (*replication.EnableVolumeReplicationResponse, error) {
	return serveSource(s, "EnableVolumeReplication", r.GetReplicationSource(), func(id string) (*replication.EnableVolumeReplicationResponse, error) {
		return &replication.EnableVolumeReplicationResponse{}, s.driver.replicate(id, true, s.driver.enableReplica)
	})
}

// DisableVolumeReplication ends the replication.
func (s AddonsReplication) DisableVolumeReplication(_ context.Context, r *replication.DisableVolumeReplicationRequest) (*replication.DisableVolumeReplicationResponse, error) {
	return serveSource(s, "DisableVolumeReplication", r.GetReplicationSource(), func(id string) (*replication.DisableVolumeReplicationResponse, error) {
		return &replication.DisableVolumeReplicationResponse{}, s.driver.replicate(id, false, s.driver.disableReplica)
	})
}

// PromoteVolume makes this side the primary.
func (s AddonsReplication) PromoteVolume(_ context.Context, r *replication.PromoteVolumeRequest) (*replication.PromoteVolumeResponse, error) {
	return serveReplicas[replication.PromoteVolumeResponse](s, "PromoteVolume", r.GetReplicationSource(), func(id string) error {
		return s.driver.promoteReplica(id, r.GetForce())
	})
}

// DemoteVolume makes this side the secondary.
func (s AddonsReplication) DemoteVolume(_ context.Context, r *replication.DemoteVolumeRequest) (*replication.DemoteVolumeResponse, error) {
	return serveReplicas[replication.DemoteVolumeResponse](s, "DemoteVolume", r.GetReplicationSource(), func(id string) error {
		return s.driver.demoteReplica(id, r.GetForce())
	})
}

// ResyncVolume copies the volume from the other side to this side.
func (s AddonsReplication) ResyncVolume(_ context.Context, r *replication.ResyncVolumeRequest) (*replication.ResyncVolumeResponse, error) {
	return serveSource(s, "ResyncVolume", r.GetReplicationSource(), func(id string) (*replication.ResyncVolumeResponse, error) {
		answer := &replication.ResyncVolumeResponse{Ready: true}
		return answer, s.driver.eachReplica(id, func(id string) error {
			ready, err := s.driver.resyncReplica(id)
			answer.Ready = answer.Ready && ready
			return err
		})
	})
}

// GetVolumeReplicationInfo returns the state of the replication. A primary is first synchronized
// with the other side, if there is one.
func (s AddonsReplication) GetVolumeReplicationInfo(_ context.Context, r *replication.GetVolumeReplicationInfoRequest) (*replication.GetVolumeReplicationInfoResponse, error) {
	return serveSource(s, "GetVolumeReplicationInfo", r.GetReplicationSource(), func(id string) (*replication.GetVolumeReplicationInfoResponse, error) {
		if g := s.driver.addonsGroup(id); g != nil && !g.replicated {
			return nil, status.Errorf(codes.FailedPrecondition, "%s is not replicated", id)
		}
		info := s.driver.options.CSIAddons.syncInfo()
		return info, s.driver.eachReplica(id, func(id string) error {
			if _, known := s.driver.addons.replicated[id]; !known {
				return status.Errorf(codes.FailedPrecondition, "%s is not replicated", id)
			}
			if s.driver.synchronize(id) != nil {
				info.Status = replication.GetVolumeReplicationInfoResponse_DEGRADED
			}
			return nil
		})
	})
}

// GetReplicationDestinationInfo returns the copies.
func (s AddonsReplication) GetReplicationDestinationInfo(_ context.Context, r *replication.GetReplicationDestinationInfoRequest) (*replication.GetReplicationDestinationInfoResponse, error) {
	const rpc = "GetReplicationDestinationInfo"
	if !slices.Contains(s.capabilities, "volume_replication.GET_REPLICATION_DESTINATION_INFO") {
		return nil, notImplemented(rpc)
	}
	return serveSource(s, rpc, r.GetReplicationSource(), func(id string) (*replication.GetReplicationDestinationInfoResponse, error) {
		return &replication.GetReplicationDestinationInfoResponse{ReplicationDestination: s.destination(id)}, nil
	})
}

// destination returns the copy of a volume, or of a group.
func (s AddonsReplication) destination(id string) *replication.ReplicationDestination {
	copyOf := func(id string) string {
		if s.driver.remote() != nil {
			return id // see Site
		}
		return or(s.driver.options.CSIAddons.Destination, "copy-of-"+id)
	}
	group := s.driver.addonsGroup(id)
	if group == nil {
		return &replication.ReplicationDestination{Type: &replication.ReplicationDestination_Volume{Volume: &replication.ReplicationDestination_VolumeDestination{VolumeId: copyOf(id)}}}
	}
	volumes := map[string]string{}
	for _, v := range group.volumes {
		volumes[v] = copyOf(v)
	}
	return &replication.ReplicationDestination{Type: &replication.ReplicationDestination_Volumegroup{Volumegroup: &replication.ReplicationDestination_VolumeGroupDestination{VolumeGroupId: copyOf(id), VolumeIds: volumes}}}
}
