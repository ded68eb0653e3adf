package mock

import (
	"context"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	addonsid "github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// AddonsIdentity serves what every plugin has of CSI-Addons.
type AddonsIdentity struct {
	addonsid.UnimplementedIdentityServer
	driver       *Driver
	capabilities []string
	node         string // empty for the controller plugin
}

// AddonsOfController is the controller plugin's part of CSI-Addons. It panics if that is not
// served.
func (d *Driver) AddonsOfController() *AddonsIdentity {
	return &AddonsIdentity{driver: d, capabilities: orElse(d.options.CSIAddons.Controller, addonsOfController)}
}

// AddonsOfNode is the part of the plugin of a node.
func (d *Driver) AddonsOfNode(nodeID string) *AddonsIdentity {
	return &AddonsIdentity{driver: d, capabilities: orElse(d.options.CSIAddons.Node, addonsOfNode), node: nodeID}
}

// ServesAddons reports whether the driver serves CSI-Addons.
func (d *Driver) ServesAddons() bool { return d.options.CSIAddons != nil }

// GetIdentity is the driver's name.
func (s *AddonsIdentity) GetIdentity(context.Context, *addonsid.GetIdentityRequest) (*addonsid.GetIdentityResponse, error) {
	return &addonsid.GetIdentityResponse{Name: s.driver.Name(), VendorVersion: s.driver.options.vendorVersion()}, nil
}

// GetCapabilities are those of the plugin.
func (s *AddonsIdentity) GetCapabilities(context.Context, *addonsid.GetCapabilitiesRequest) (*addonsid.GetCapabilitiesResponse, error) {
	answer := &addonsid.GetCapabilitiesResponse{}
	for _, name := range s.capabilities {
		answer.Capabilities = append(answer.Capabilities, addonsCapability(name))
	}
	return answer, nil
}

// Probe says whether the plugin is ready.
func (s *AddonsIdentity) Probe(context.Context, *addonsid.ProbeRequest) (*addonsid.ProbeResponse, error) {
	return &addonsid.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

// begin refuses a call whose capability is off, and else locks the storage system.
func (s *AddonsIdentity) begin(rpc, capability string) (unlock func(), err error) {
	if !slices.Contains(s.capabilities, capability) {
		return nil, notImplemented(rpc)
	}
	s.driver.mu.Lock()
	return s.driver.mu.Unlock, nil
}

// AddonsReclaim serves reclaiming space.
type AddonsReclaim struct {
	reclaimspace.UnimplementedReclaimSpaceControllerServer
	reclaimspace.UnimplementedReclaimSpaceNodeServer
	*AddonsIdentity
}

// ControllerReclaimSpace frees what a volume does not need.
func (s AddonsReclaim) ControllerReclaimSpace(_ context.Context, r *reclaimspace.ControllerReclaimSpaceRequest) (*reclaimspace.ControllerReclaimSpaceResponse, error) {
	unlock, err := s.begin("ControllerReclaimSpace", "reclaim_space.OFFLINE")
	if err != nil {
		return nil, err
	}
	defer unlock()
	v, err := s.driver.addonsVolume(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	before, after := s.driver.reclaim(v, s.driver.options.CSIAddons.ControllerUsage)
	return &reclaimspace.ControllerReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
}

// NodeReclaimSpace frees what a volume in use does not need.
func (s AddonsReclaim) NodeReclaimSpace(_ context.Context, r *reclaimspace.NodeReclaimSpaceRequest) (*reclaimspace.NodeReclaimSpaceResponse, error) {
	unlock, err := s.begin("NodeReclaimSpace", "reclaim_space.ONLINE")
	if err != nil {
		return nil, err
	}
	defer unlock()
	v, err := s.driver.addonsVolume(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	before, after := s.driver.reclaim(v, s.driver.options.CSIAddons.NodeUsage)
	return &reclaimspace.NodeReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
}

// AddonsKeyRotation serves changing keys.
type AddonsKeyRotation struct {
	encryptionkeyrotation.UnimplementedEncryptionKeyRotationControllerServer
	*AddonsIdentity
}

// EncryptionKeyRotate changes the key of a volume.
func (s AddonsKeyRotation) EncryptionKeyRotate(_ context.Context, r *encryptionkeyrotation.EncryptionKeyRotateRequest) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
	unlock, err := s.begin("EncryptionKeyRotate", "encryption_key_rotation.ENCRYPTIONKEYROTATION")
	if err != nil {
		return nil, err
	}
	defer unlock()
	v, err := s.driver.addonsVolume(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	s.driver.addons.keys[v.id]++
	return &encryptionkeyrotation.EncryptionKeyRotateResponse{}, nil
}

// AddonsFence serves fencing.
type AddonsFence struct {
	fence.UnimplementedFenceControllerServer
	*AddonsIdentity
}

func addressesOf(cidrs []*fence.CIDR) (all []string) {
	for _, c := range cidrs {
		all = append(all, c.GetCidr())
	}
	return all
}

func cidrsOf(all []string) (cidrs []*fence.CIDR) {
	for _, text := range all {
		cidrs = append(cidrs, &fence.CIDR{Cidr: text})
	}
	return cidrs
}

// FenceClusterNetwork keeps addresses off the storage.
func (s AddonsFence) FenceClusterNetwork(_ context.Context, r *fence.FenceClusterNetworkRequest) (*fence.FenceClusterNetworkResponse, error) {
	unlock, err := s.begin("FenceClusterNetwork", "network_fence.NETWORK_FENCE")
	if err != nil {
		return nil, err
	}
	defer unlock()
	addresses := addressesOf(r.GetCidrs())
	if err := checkAddresses(addresses); err != nil {
		return nil, err
	}
	s.driver.fence(addresses)
	return &fence.FenceClusterNetworkResponse{}, nil
}

// UnfenceClusterNetwork lets addresses on the storage again.
func (s AddonsFence) UnfenceClusterNetwork(_ context.Context, r *fence.UnfenceClusterNetworkRequest) (*fence.UnfenceClusterNetworkResponse, error) {
	unlock, err := s.begin("UnfenceClusterNetwork", "network_fence.NETWORK_FENCE")
	if err != nil {
		return nil, err
	}
	defer unlock()
	addresses := addressesOf(r.GetCidrs())
	if err := checkAddresses(addresses); err != nil {
		return nil, err
	}
	s.driver.unfence(addresses)
	return &fence.UnfenceClusterNetworkResponse{}, nil
}

// ListClusterFence lists what is fenced.
func (s AddonsFence) ListClusterFence(context.Context, *fence.ListClusterFenceRequest) (*fence.ListClusterFenceResponse, error) {
	unlock, err := s.begin("ListClusterFence", "network_fence.NETWORK_FENCE")
	if err != nil {
		return nil, err
	}
	defer unlock()
	return &fence.ListClusterFenceResponse{Cidrs: cidrsOf(s.driver.addons.fenced)}, nil
}

// GetFenceClients are the clients that can be fenced.
func (s AddonsFence) GetFenceClients(context.Context, *fence.GetFenceClientsRequest) (*fence.GetFenceClientsResponse, error) {
	unlock, err := s.begin("GetFenceClients", "network_fence.GET_CLIENTS_TO_FENCE")
	if err != nil {
		return nil, err
	}
	defer unlock()
	clients := s.driver.options.CSIAddons.FenceClients
	if clients == nil {
		clients = []FenceClient{{ID: or(s.node, s.driver.Name()), CIDRs: []string{"10.0.0.0/32"}}}
	}
	answer := &fence.GetFenceClientsResponse{}
	for _, c := range clients {
		if c.Node != "" && c.Node != s.node {
			continue
		}
		answer.Clients = append(answer.Clients, &fence.ClientDetails{Id: c.ID, Addresses: cidrsOf(c.CIDRs)})
	}
	return answer, nil
}

// AddonsReplication serves replication.
type AddonsReplication struct {
	replication.UnimplementedControllerServer
	*AddonsIdentity
}

// on begins a call about a volume or group.
func (s AddonsReplication) on(rpc string, source *replication.ReplicationSource) (id string, unlock func(), err error) {
	unlock, err = s.begin(rpc, "volume_replication.VOLUME_REPLICATION")
	if err != nil {
		return "", nil, err
	}
	if id, err = s.driver.sourceID(source); err != nil {
		unlock()
	}
	return id, unlock, err
}

// EnableVolumeReplication begins to keep a copy.
func (s AddonsReplication) EnableVolumeReplication(_ context.Context, r *replication.EnableVolumeReplicationRequest) (*replication.EnableVolumeReplicationResponse, error) {
	id, unlock, err := s.on("EnableVolumeReplication", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, known := s.driver.addons.replicated[id]; !known {
		s.driver.addons.replicated[id] = true
	}
	return &replication.EnableVolumeReplicationResponse{}, nil
}

// DisableVolumeReplication gives up the copy.
func (s AddonsReplication) DisableVolumeReplication(_ context.Context, r *replication.DisableVolumeReplicationRequest) (*replication.DisableVolumeReplicationResponse, error) {
	id, unlock, err := s.on("DisableVolumeReplication", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	delete(s.driver.addons.replicated, id)
	return &replication.DisableVolumeReplicationResponse{}, nil
}

// PromoteVolume makes this side the one that may be written.
func (s AddonsReplication) PromoteVolume(_ context.Context, r *replication.PromoteVolumeRequest) (*replication.PromoteVolumeResponse, error) {
	id, unlock, err := s.on("PromoteVolume", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, known := s.driver.addons.replicated[id]; !known {
		return nil, status.Errorf(codes.FailedPrecondition, "%s is not replicated", id)
	}
	s.driver.addons.replicated[id] = true
	return &replication.PromoteVolumeResponse{}, nil
}

// DemoteVolume makes this side the copy.
func (s AddonsReplication) DemoteVolume(_ context.Context, r *replication.DemoteVolumeRequest) (*replication.DemoteVolumeResponse, error) {
	id, unlock, err := s.on("DemoteVolume", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	s.driver.addons.replicated[id] = false
	return &replication.DemoteVolumeResponse{}, nil
}

// ResyncVolume makes the copy what the other side is.
func (s AddonsReplication) ResyncVolume(_ context.Context, r *replication.ResyncVolumeRequest) (*replication.ResyncVolumeResponse, error) {
	id, unlock, err := s.on("ResyncVolume", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if s.driver.addons.replicated[id] {
		return nil, status.Errorf(codes.FailedPrecondition, "%s is not demoted", id)
	}
	return &replication.ResyncVolumeResponse{Ready: true}, nil
}

// GetVolumeReplicationInfo returns how the replication is.
func (s AddonsReplication) GetVolumeReplicationInfo(_ context.Context, r *replication.GetVolumeReplicationInfoRequest) (*replication.GetVolumeReplicationInfoResponse, error) {
	id, unlock, err := s.on("GetVolumeReplicationInfo", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, known := s.driver.addons.replicated[id]; !known {
		return nil, status.Errorf(codes.FailedPrecondition, "%s is not replicated", id)
	}
	return s.driver.options.CSIAddons.syncInfo(), nil
}

// GetReplicationDestinationInfo returns the copies.
func (s AddonsReplication) GetReplicationDestinationInfo(_ context.Context, r *replication.GetReplicationDestinationInfoRequest) (*replication.GetReplicationDestinationInfoResponse, error) {
	if !slices.Contains(s.capabilities, "volume_replication.GET_REPLICATION_DESTINATION_INFO") {
		return nil, notImplemented("GetReplicationDestinationInfo")
	}
	id, unlock, err := s.on("GetReplicationDestinationInfo", r.GetReplicationSource())
	if err != nil {
		return nil, err
	}
	defer unlock()
	copyOf := func(id string) string { return or(s.driver.options.CSIAddons.Destination, "copy-of-"+id) }
	to := &replication.ReplicationDestination{}
	if group := s.driver.addonsGroup(id); group != nil {
		volumes := map[string]string{}
		for _, v := range group.volumes {
			volumes[v] = copyOf(v)
		}
		to.Type = &replication.ReplicationDestination_Volumegroup{Volumegroup: &replication.ReplicationDestination_VolumeGroupDestination{VolumeGroupId: copyOf(id), VolumeIds: volumes}}
	} else {
		to.Type = &replication.ReplicationDestination_Volume{Volume: &replication.ReplicationDestination_VolumeDestination{VolumeId: copyOf(id)}}
	}
	return &replication.GetReplicationDestinationInfoResponse{ReplicationDestination: to}, nil
}

// AddonsGroups serves groups of volumes.
type AddonsGroups struct {
	volumegroup.UnimplementedControllerServer
	*AddonsIdentity
}

func (s AddonsGroups) message(g *addonsGroup) *volumegroup.VolumeGroup {
	m := &volumegroup.VolumeGroup{VolumeGroupId: g.id, VolumeGroupContext: s.driver.options.CSIAddons.GroupContext}
	for _, id := range g.volumes {
		m.Volumes = append(m.Volumes, &csi.Volume{VolumeId: id})
	}
	return m
}

// CreateVolumeGroup makes a group, once for each name.
func (s AddonsGroups) CreateVolumeGroup(_ context.Context, r *volumegroup.CreateVolumeGroupRequest) (*volumegroup.CreateVolumeGroupResponse, error) {
	unlock, err := s.begin("CreateVolumeGroup", "volume_group.VOLUME_GROUP")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r.GetName() == "" {
		return nil, status.Error(codes.InvalidArgument, "name is required")
	}
	for _, g := range s.driver.addons.groups {
		switch {
		case g.name != r.GetName():
		case !slices.Equal(g.volumes, r.GetVolumeIds()):
			return nil, status.Errorf(codes.AlreadyExists, "group %s has other volumes", g.name)
		default:
			return &volumegroup.CreateVolumeGroupResponse{VolumeGroup: s.message(g)}, nil
		}
	}
	if err := s.driver.groupable(r.GetVolumeIds(), nil); err != nil {
		return nil, err
	}
	g := &addonsGroup{id: s.driver.newGroupID(), name: r.GetName(), volumes: r.GetVolumeIds()}
	s.driver.addons.groups = append(s.driver.addons.groups, g)
	return &volumegroup.CreateVolumeGroupResponse{VolumeGroup: s.message(g)}, nil
}

// find begins a call about a group.
func (s AddonsGroups) find(rpc, capability, id string) (*addonsGroup, func(), error) {
	unlock, err := s.begin(rpc, capability)
	if err != nil {
		return nil, nil, err
	}
	g := s.driver.addonsGroup(id)
	if g == nil {
		unlock()
		return nil, nil, status.Errorf(codes.NotFound, "volume group %s does not exist", id)
	}
	return g, unlock, nil
}

// ModifyVolumeGroupMembership makes these volumes the members of a group.
func (s AddonsGroups) ModifyVolumeGroupMembership(_ context.Context, r *volumegroup.ModifyVolumeGroupMembershipRequest) (*volumegroup.ModifyVolumeGroupMembershipResponse, error) {
	g, unlock, err := s.find("ModifyVolumeGroupMembership", "volume_group.MODIFY_VOLUME_GROUP", r.GetVolumeGroupId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.driver.groupable(r.GetVolumeIds(), g); err != nil {
		return nil, err
	}
	g.volumes = r.GetVolumeIds()
	return &volumegroup.ModifyVolumeGroupMembershipResponse{VolumeGroup: s.message(g)}, nil
}

// DeleteVolumeGroup deletes a group, not its volumes.
func (s AddonsGroups) DeleteVolumeGroup(_ context.Context, r *volumegroup.DeleteVolumeGroupRequest) (*volumegroup.DeleteVolumeGroupResponse, error) {
	unlock, err := s.begin("DeleteVolumeGroup", "volume_group.VOLUME_GROUP")
	if err != nil {
		return nil, err
	}
	defer unlock()
	s.driver.addons.groups = slices.DeleteFunc(s.driver.addons.groups, func(g *addonsGroup) bool { return g.id == r.GetVolumeGroupId() })
	return &volumegroup.DeleteVolumeGroupResponse{}, nil
}

// ControllerGetVolumeGroup returns a group.
func (s AddonsGroups) ControllerGetVolumeGroup(_ context.Context, r *volumegroup.ControllerGetVolumeGroupRequest) (*volumegroup.ControllerGetVolumeGroupResponse, error) {
	g, unlock, err := s.find("ControllerGetVolumeGroup", "volume_group.GET_VOLUME_GROUP", r.GetVolumeGroupId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	return &volumegroup.ControllerGetVolumeGroupResponse{VolumeGroup: s.message(g)}, nil
}

// ListVolumeGroups lists all groups.
func (s AddonsGroups) ListVolumeGroups(context.Context, *volumegroup.ListVolumeGroupsRequest) (*volumegroup.ListVolumeGroupsResponse, error) {
	unlock, err := s.begin("ListVolumeGroups", "volume_group.LIST_VOLUME_GROUPS")
	if err != nil {
		return nil, err
	}
	defer unlock()
	answer := &volumegroup.ListVolumeGroupsResponse{}
	for _, g := range s.driver.addons.groups {
		answer.Entries = append(answer.Entries, &volumegroup.ListVolumeGroupsResponse_Entry{VolumeGroup: s.message(g)})
	}
	return answer, nil
}
