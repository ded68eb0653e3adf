package relay

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/sidecar"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// remote is a sidecar outside of the simulation.
type remote struct{ outgoing }

// calls in virtual time do not use ctx.
var ctx = context.Background()

// GetCapabilities requests the driver's capabilities through the sidecar.
func (r remote) GetCapabilities(Call) ([]*identity.Capability, error) {
	answer, err := identity.NewIdentityClient(r).GetCapabilities(ctx, &identity.GetCapabilitiesRequest{})
	return answer.GetCapabilities(), err
}

// ControllerReclaimSpace makes the controller plugin free space of a volume.
func (r remote) ControllerReclaimSpace(_ Call, volume string) (Usage, error) {
	answer, err := sidecar.NewReclaimSpaceClient(r).ControllerReclaimSpace(ctx, &sidecar.ReclaimSpaceRequest{PvName: volume})
	return usageIn(answer), err
}

// NodeReclaimSpace makes the node plugin free space of a volume.
func (r remote) NodeReclaimSpace(_ Call, volume string) (Usage, error) {
	answer, err := sidecar.NewReclaimSpaceClient(r).NodeReclaimSpace(ctx, &sidecar.ReclaimSpaceRequest{PvName: volume})
	return usageIn(answer), err
}

// RotateKey makes the driver change the key of a volume.
func (r remote) RotateKey(_ Call, volume string) error {
	_, err := sidecar.NewEncryptionKeyRotationClient(r).EncryptionKeyRotate(ctx, &sidecar.EncryptionKeyRotateRequest{PvName: volume})
	return err
}

// Fence fences or unfences.
func (r remote) Fence(_ Call, f Fence) error {
	client := sidecar.NewNetworkFenceClient(r)
	do := client.FenceClusterNetwork
	if f.Unfence {
		do = client.UnFenceClusterNetwork
	}
	_, err := do(ctx, &sidecar.NetworkFenceRequest{
		Parameters: f.Parameters, SecretName: f.Secret.Name, SecretNamespace: f.Secret.Namespace, Cidrs: f.CIDRs,
	})
	return err
}

// FenceClients requests the clients of a node.
func (r remote) FenceClients(_ Call, parameters map[string]string, s Secret) (clients []*fence.ClientDetails, err error) {
	answer, err := sidecar.NewNetworkFenceClient(r).GetFenceClients(ctx, &sidecar.FenceClientsRequest{
		Parameters: parameters, SecretName: s.Name, SecretNamespace: s.Namespace,
	})
	for _, client := range answer.GetClients() {
		clients = append(clients, clientWith(client))
	}
	return clients, err
}

// Replicate makes one of the calls of replication.
func (r remote) Replicate(_ Call, asked Replication) (proto.Message, error) {
	client := sidecar.NewReplicationClient(r)
	secret, namespace, source := asked.Secret.Name, asked.Secret.Namespace, sourceOf(asked.Source)
	switch asked.Operation {
	case Enable:
		return client.EnableVolumeReplication(ctx, &sidecar.EnableVolumeReplicationRequest{
			ReplicationId: asked.ID, Parameters: asked.Parameters, SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
	case Disable:
		return client.DisableVolumeReplication(ctx, &sidecar.DisableVolumeReplicationRequest{
			ReplicationId: asked.ID, Parameters: asked.Parameters, SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
	case Promote:
		return client.PromoteVolume(ctx, &sidecar.PromoteVolumeRequest{
			ReplicationId: asked.ID, Force: asked.Force, Parameters: asked.Parameters, SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
	case Demote:
		return client.DemoteVolume(ctx, &sidecar.DemoteVolumeRequest{
			ReplicationId: asked.ID, Force: asked.Force, Parameters: asked.Parameters, SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
	case Resync:
		answer, err := client.ResyncVolume(ctx, &sidecar.ResyncVolumeRequest{
			ReplicationId: asked.ID, Force: asked.Force, Parameters: asked.Parameters, SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
		return &replication.ResyncVolumeResponse{Ready: answer.GetReady()}, err
	case Info:
		answer, err := client.GetVolumeReplicationInfo(ctx, &sidecar.GetVolumeReplicationInfoRequest{
			ReplicationId: asked.ID, SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
		return infoIn(answer), err
	case Destination:
		answer, err := client.GetReplicationDestinationInfo(ctx, &sidecar.GetReplicationDestinationInfoRequest{
			SecretName: secret, SecretNamespace: namespace, ReplicationSource: source,
		})
		return &replication.GetReplicationDestinationInfoResponse{ReplicationDestination: destinationIn(answer.GetReplicationDestination())}, err
	}
	return nil, status.Errorf(codes.Unimplemented, "unknown operation %s", asked.Operation)
}

// CreateGroup makes a group of volumes.
func (r remote) CreateGroup(_ Call, name string, g Group) (*volumegroup.VolumeGroup, error) {
	answer, err := sidecar.NewVolumeGroupControllerClient(r).CreateVolumeGroup(ctx, &sidecar.CreateVolumeGroupRequest{
		Name: name, Parameters: g.Parameters, SecretName: g.Secret.Name, SecretNamespace: g.Secret.Namespace, VolumeIds: g.Volumes,
	})
	return groupIn(answer.GetVolumeGroup()), err
}

// ModifyGroup makes these volumes the members of a group.
func (r remote) ModifyGroup(_ Call, g Group) (*volumegroup.VolumeGroup, error) {
	answer, err := sidecar.NewVolumeGroupControllerClient(r).ModifyVolumeGroupMembership(ctx, &sidecar.ModifyVolumeGroupMembershipRequest{
		VolumeGroupId: g.ID, VolumeIds: g.Volumes, SecretName: g.Secret.Name, SecretNamespace: g.Secret.Namespace, Parameters: g.Parameters,
	})
	return groupIn(answer.GetVolumeGroup()), err
}

// DeleteGroup deletes a group.
func (r remote) DeleteGroup(_ Call, g Group) error {
	_, err := sidecar.NewVolumeGroupControllerClient(r).DeleteVolumeGroup(ctx, &sidecar.DeleteVolumeGroupRequest{
		VolumeGroupId: g.ID, SecretName: g.Secret.Name, SecretNamespace: g.Secret.Namespace,
	})
	return err
}
