package mock

import (
	"context"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

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
	if s.driver.faults[groupDropsMember] && len(m.Volumes) > 0 {
		m.Volumes = m.Volumes[1:]
	}
	return m
}

// serveGroup answers a call about a group.
func serveGroup[A any](s AddonsGroups, rpc, capability, id string, answer func(*addonsGroup) (*A, error)) (*A, error) {
	return serve(s.AddonsIdentity, rpc, capability, func() (*A, error) {
		g := s.driver.addonsGroup(id)
		if g == nil {
			return nil, status.Errorf(codes.NotFound, "volume group %s does not exist", id)
		}
		return answer(g)
	})
}

// CreateVolumeGroup creates a group, or returns the existing group with the name.
func (s AddonsGroups) CreateVolumeGroup(_ context.Context, r *volumegroup.CreateVolumeGroupRequest) (*volumegroup.CreateVolumeGroupResponse, error) {
	return serve(s.AddonsIdentity, "CreateVolumeGroup", "volume_group.VOLUME_GROUP", func() (*volumegroup.CreateVolumeGroupResponse, error) {
		g, err := s.create(r.GetName(), r.GetVolumeIds())
		if err != nil {
			return nil, err
		}
		return &volumegroup.CreateVolumeGroupResponse{VolumeGroup: s.message(g)}, nil
	})
}

func (s AddonsGroups) create(name string, volumes []string) (*addonsGroup, error) {
	if name == "" {
		return nil, status.Error(codes.InvalidArgument, "name is required")
	}
	for _, g := range s.driver.addons.groups {
		switch {
		case g.name != name:
		case !slices.Equal(g.volumes, volumes):
			return nil, status.Errorf(codes.AlreadyExists, "group %s has other volumes", g.name)
		default:
			return g, nil
		}
	}
	if err := s.driver.groupable(volumes, nil); err != nil {
		return nil, err
	}
	g := &addonsGroup{id: s.driver.newGroupID(), name: name, volumes: volumes}
	s.driver.addons.groups = append(s.driver.addons.groups, g)
	return g, nil
}

// ModifyVolumeGroupMembership replaces the members of a group. A deleted group has no members. When
// two passes of a deletion overlap, the later one sends an empty list. A-VGR-10
func (s AddonsGroups) ModifyVolumeGroupMembership(_ context.Context, r *volumegroup.ModifyVolumeGroupMembershipRequest) (*volumegroup.ModifyVolumeGroupMembershipResponse, error) {
	return serve(s.AddonsIdentity, "ModifyVolumeGroupMembership", "volume_group.MODIFY_VOLUME_GROUP", func() (*volumegroup.ModifyVolumeGroupMembershipResponse, error) {
		g := s.driver.addonsGroup(r.GetVolumeGroupId())
		switch {
		case g == nil && len(r.GetVolumeIds()) > 0:
			return nil, status.Errorf(codes.NotFound, "volume group %s does not exist", r.GetVolumeGroupId())
		case g == nil:
			return &volumegroup.ModifyVolumeGroupMembershipResponse{VolumeGroup: &volumegroup.VolumeGroup{VolumeGroupId: r.GetVolumeGroupId()}}, nil
		}
		if err := s.driver.groupable(r.GetVolumeIds(), g); err != nil {
			return nil, err
		}
		if err := s.driver.regroup(g, r.GetVolumeIds()); err != nil {
			return nil, err
		}
		return &volumegroup.ModifyVolumeGroupMembershipResponse{VolumeGroup: s.message(g)}, nil
	})
}

// DeleteVolumeGroup deletes a group but keeps its volumes.
func (s AddonsGroups) DeleteVolumeGroup(_ context.Context, r *volumegroup.DeleteVolumeGroupRequest) (*volumegroup.DeleteVolumeGroupResponse, error) {
	return serve(s.AddonsIdentity, "DeleteVolumeGroup", "volume_group.VOLUME_GROUP", func() (*volumegroup.DeleteVolumeGroupResponse, error) {
		s.driver.addons.groups = slices.DeleteFunc(s.driver.addons.groups, func(g *addonsGroup) bool { return g.id == r.GetVolumeGroupId() })
		return &volumegroup.DeleteVolumeGroupResponse{}, nil
	})
}

// ControllerGetVolumeGroup returns a group.
func (s AddonsGroups) ControllerGetVolumeGroup(_ context.Context, r *volumegroup.ControllerGetVolumeGroupRequest) (*volumegroup.ControllerGetVolumeGroupResponse, error) {
	return serveGroup(s, "ControllerGetVolumeGroup", "volume_group.GET_VOLUME_GROUP", r.GetVolumeGroupId(), func(g *addonsGroup) (*volumegroup.ControllerGetVolumeGroupResponse, error) {
		return &volumegroup.ControllerGetVolumeGroupResponse{VolumeGroup: s.message(g)}, nil
	})
}

// ListVolumeGroups lists all groups.
func (s AddonsGroups) ListVolumeGroups(context.Context, *volumegroup.ListVolumeGroupsRequest) (*volumegroup.ListVolumeGroupsResponse, error) {
	return serve(s.AddonsIdentity, "ListVolumeGroups", "volume_group.LIST_VOLUME_GROUPS", func() (*volumegroup.ListVolumeGroupsResponse, error) {
		answer := &volumegroup.ListVolumeGroupsResponse{}
		for _, g := range s.driver.addons.groups {
			answer.Entries = append(answer.Entries, &volumegroup.ListVolumeGroupsResponse_Entry{VolumeGroup: s.message(g)})
		}
		return answer, nil
	})
}
