package sidecar

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// Replicate makes one of the calls of replication. A-TR-6
func (s service) Replicate(c relay.Call, r relay.Replication) (proto.Message, error) {
	s.review(c)
	secrets, err := s.secret(c, r.Secret, codes.Internal)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Source == nil:
		return nil, status.Error(codes.Internal, "replication source is required")
	case r.Source.GetType() == nil:
		return nil, status.Error(codes.Internal, "either volume or volume group is required")
	}
	client := replication.NewControllerClient(s.conn(c))
	switch r.Operation {
	case relay.Enable:
		return client.EnableVolumeReplication(ctx, &replication.EnableVolumeReplicationRequest{Parameters: r.Parameters, Secrets: secrets, ReplicationId: r.ID, ReplicationSource: r.Source})
	case relay.Disable:
		return client.DisableVolumeReplication(ctx, &replication.DisableVolumeReplicationRequest{Parameters: r.Parameters, Secrets: secrets, ReplicationId: r.ID, ReplicationSource: r.Source})
	case relay.Promote:
		return client.PromoteVolume(ctx, &replication.PromoteVolumeRequest{Force: r.Force, Parameters: r.Parameters, Secrets: secrets, ReplicationId: r.ID, ReplicationSource: r.Source})
	case relay.Demote:
		return client.DemoteVolume(ctx, &replication.DemoteVolumeRequest{Force: r.Force, Parameters: r.Parameters, Secrets: secrets, ReplicationId: r.ID, ReplicationSource: r.Source})
	case relay.Resync:
		return client.ResyncVolume(ctx, &replication.ResyncVolumeRequest{Force: r.Force, Parameters: r.Parameters, Secrets: secrets, ReplicationId: r.ID, ReplicationSource: r.Source})
	case relay.Info:
		return client.GetVolumeReplicationInfo(ctx, &replication.GetVolumeReplicationInfoRequest{Secrets: secrets, ReplicationId: r.ID, ReplicationSource: r.Source})
	}
	answer, err := client.GetReplicationDestinationInfo(ctx, &replication.GetReplicationDestinationInfoRequest{Secrets: secrets, ReplicationSource: r.Source})
	switch {
	case err != nil:
		return nil, err
	case answer.GetReplicationDestination() == nil:
		return nil, status.Error(codes.Internal, "replication destination is nil")
	case answer.GetReplicationDestination().GetType() == nil:
		return nil, status.Error(codes.Internal, "replication destination has no volume or volume group")
	}
	return answer, nil
}

// CreateGroup: A-TR-6
func (s service) CreateGroup(c relay.Call, name string, g relay.Group) (*volumegroup.VolumeGroup, error) {
	s.review(c)
	secrets, err := s.secret(c, g.Secret, codes.Internal)
	if err != nil {
		return nil, err
	}
	answer, err := volumegroup.NewControllerClient(s.conn(c)).CreateVolumeGroup(ctx, &volumegroup.CreateVolumeGroupRequest{
		Name: name, Parameters: g.Parameters, Secrets: secrets, VolumeIds: g.Volumes,
	})
	return answer.GetVolumeGroup(), err
}

// ModifyGroup makes these volumes the members of a group. A-TR-6
func (s service) ModifyGroup(c relay.Call, g relay.Group) (*volumegroup.VolumeGroup, error) {
	s.review(c)
	secrets, err := s.secret(c, g.Secret, codes.Internal)
	if err != nil {
		return nil, err
	}
	answer, err := volumegroup.NewControllerClient(s.conn(c)).ModifyVolumeGroupMembership(ctx, &volumegroup.ModifyVolumeGroupMembershipRequest{
		VolumeGroupId: g.ID, VolumeIds: g.Volumes, Secrets: secrets, Parameters: g.Parameters,
	})
	return answer.GetVolumeGroup(), err
}

// DeleteGroup: A-TR-6
func (s service) DeleteGroup(c relay.Call, g relay.Group) error {
	s.review(c)
	secrets, err := s.secret(c, g.Secret, codes.Internal)
	if err != nil {
		return err
	}
	_, err = volumegroup.NewControllerClient(s.conn(c)).DeleteVolumeGroup(ctx, &volumegroup.DeleteVolumeGroupRequest{VolumeGroupId: g.ID, Secrets: secrets})
	return err
}

// GetGroup: A-TR-6
func (s service) GetGroup(c relay.Call, g relay.Group) (*volumegroup.VolumeGroup, error) {
	s.review(c)
	secrets, err := s.secret(c, g.Secret, codes.Internal)
	if err != nil {
		return nil, err
	}
	answer, err := volumegroup.NewControllerClient(s.conn(c)).ControllerGetVolumeGroup(ctx, &volumegroup.ControllerGetVolumeGroupRequest{VolumeGroupId: g.ID, Secrets: secrets})
	return answer.GetVolumeGroup(), err
}
