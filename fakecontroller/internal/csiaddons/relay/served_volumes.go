package relay

import (
	"context"

	"github.com/csisim/csisim/internal/world/addons/sidecar"
)

type servedReclaim struct {
	sidecar.UnimplementedReclaimSpaceServer
	served
}

func (s servedReclaim) ControllerReclaimSpace(ctx context.Context, r *sidecar.ReclaimSpaceRequest) (*sidecar.ReclaimSpaceResponse, error) {
	return answer(ctx, s.served, "ControllerReclaimSpace", func(to Service, c Call) (*sidecar.ReclaimSpaceResponse, error) {
		usage, err := to.ControllerReclaimSpace(c, r.GetPvName())
		return usageAnswer(usage), err
	})
}

func (s servedReclaim) NodeReclaimSpace(ctx context.Context, r *sidecar.ReclaimSpaceRequest) (*sidecar.ReclaimSpaceResponse, error) {
	return answer(ctx, s.served, "NodeReclaimSpace", func(to Service, c Call) (*sidecar.ReclaimSpaceResponse, error) {
		usage, err := to.NodeReclaimSpace(c, r.GetPvName())
		return usageAnswer(usage), err
	})
}

type servedKeys struct {
	sidecar.UnimplementedEncryptionKeyRotationServer
	served
}

func (s servedKeys) EncryptionKeyRotate(ctx context.Context, r *sidecar.EncryptionKeyRotateRequest) (*sidecar.EncryptionKeyRotateResponse, error) {
	return answer(ctx, s.served, "EncryptionKeyRotate", func(to Service, c Call) (*sidecar.EncryptionKeyRotateResponse, error) {
		return &sidecar.EncryptionKeyRotateResponse{}, to.RotateKey(c, r.GetPvName())
	})
}

type servedFence struct {
	sidecar.UnimplementedNetworkFenceServer
	served
}

func (s servedFence) FenceClusterNetwork(ctx context.Context, r *sidecar.NetworkFenceRequest) (*sidecar.NetworkFenceResponse, error) {
	return s.fence(ctx, r, false)
}

func (s servedFence) UnFenceClusterNetwork(ctx context.Context, r *sidecar.NetworkFenceRequest) (*sidecar.NetworkFenceResponse, error) {
	return s.fence(ctx, r, true)
}

func (s servedFence) fence(ctx context.Context, r *sidecar.NetworkFenceRequest, unfence bool) (*sidecar.NetworkFenceResponse, error) {
	return answer(ctx, s.served, "FenceClusterNetwork", func(to Service, c Call) (*sidecar.NetworkFenceResponse, error) {
		return &sidecar.NetworkFenceResponse{}, to.Fence(c, Fence{
			Parameters: r.GetParameters(), Secret: secretIn(r), CIDRs: r.GetCidrs(), Unfence: unfence,
		})
	})
}

func (s servedFence) GetFenceClients(ctx context.Context, r *sidecar.FenceClientsRequest) (*sidecar.FenceClientsResponse, error) {
	return answer(ctx, s.served, "GetFenceClients", func(to Service, c Call) (*sidecar.FenceClientsResponse, error) {
		clients, err := to.FenceClients(c, r.GetParameters(), secretIn(r))
		all := &sidecar.FenceClientsResponse{}
		for _, client := range clients {
			all.Clients = append(all.Clients, clientAnswer(client))
		}
		return all, err
	})
}

// secretIn returns the secret that a request names.
func secretIn(r interface {
	GetSecretName() string
	GetSecretNamespace() string
}) Secret {
	return Secret{Name: r.GetSecretName(), Namespace: r.GetSecretNamespace()}
}

type servedGroups struct {
	sidecar.UnimplementedVolumeGroupControllerServer
	served
}

func (s servedGroups) CreateVolumeGroup(ctx context.Context, r *sidecar.CreateVolumeGroupRequest) (*sidecar.CreateVolumeGroupResponse, error) {
	return answer(ctx, s.served, "CreateVolumeGroup", func(to Service, c Call) (*sidecar.CreateVolumeGroupResponse, error) {
		group, err := to.CreateGroup(c, r.GetName(), Group{Volumes: r.GetVolumeIds(), Parameters: r.GetParameters(), Secret: secretIn(r)})
		return &sidecar.CreateVolumeGroupResponse{VolumeGroup: groupAnswer(group)}, err
	})
}

func (s servedGroups) ModifyVolumeGroupMembership(ctx context.Context, r *sidecar.ModifyVolumeGroupMembershipRequest) (*sidecar.ModifyVolumeGroupMembershipResponse, error) {
	return answer(ctx, s.served, "ModifyVolumeGroupMembership", func(to Service, c Call) (*sidecar.ModifyVolumeGroupMembershipResponse, error) {
		group, err := to.ModifyGroup(c, Group{ID: r.GetVolumeGroupId(), Volumes: r.GetVolumeIds(), Parameters: r.GetParameters(), Secret: secretIn(r)})
		return &sidecar.ModifyVolumeGroupMembershipResponse{VolumeGroup: groupAnswer(group)}, err
	})
}

func (s servedGroups) DeleteVolumeGroup(ctx context.Context, r *sidecar.DeleteVolumeGroupRequest) (*sidecar.DeleteVolumeGroupResponse, error) {
	return answer(ctx, s.served, "DeleteVolumeGroup", func(to Service, c Call) (*sidecar.DeleteVolumeGroupResponse, error) {
		return &sidecar.DeleteVolumeGroupResponse{}, to.DeleteGroup(c, Group{ID: r.GetVolumeGroupId(), Secret: secretIn(r)})
	})
}

func (s servedGroups) ControllerGetVolumeGroup(ctx context.Context, r *sidecar.ControllerGetVolumeGroupRequest) (*sidecar.ControllerGetVolumeGroupResponse, error) {
	return answer(ctx, s.served, "ControllerGetVolumeGroup", func(to Service, c Call) (*sidecar.ControllerGetVolumeGroupResponse, error) {
		group, err := to.GetGroup(c, Group{ID: r.GetVolumeGroupId(), Secret: secretIn(r)})
		return &sidecar.ControllerGetVolumeGroupResponse{VolumeGroup: groupAnswer(group)}, err
	})
}
