//go:build linux

package service

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// groupController groups volumes, which can then be replicated together.
type groupController struct {
	volumegroup.UnimplementedControllerServer
	store *backend.Backend
}

// CreateVolumeGroup makes a group.
func (c groupController) CreateVolumeGroup(_ context.Context, req *volumegroup.CreateVolumeGroupRequest) (*volumegroup.CreateVolumeGroupResponse, error) {
	if err := require("name", req.GetName()); err != nil {
		return nil, err
	}
	g, err := c.store.CreateVolumeGroup(req.GetName(), req.GetVolumeIds())
	if err != nil {
		return nil, Answer(err)
	}
	return &volumegroup.CreateVolumeGroupResponse{VolumeGroup: groupMessage(g)}, nil
}

// ModifyVolumeGroupMembership replaces the members by the members of the request.
func (c groupController) ModifyVolumeGroupMembership(_ context.Context, req *volumegroup.ModifyVolumeGroupMembershipRequest) (*volumegroup.ModifyVolumeGroupMembershipResponse, error) {
	g, err := c.store.ModifyVolumeGroup(req.GetVolumeGroupId(), req.GetVolumeIds())
	if err != nil {
		return nil, Answer(err)
	}
	return &volumegroup.ModifyVolumeGroupMembershipResponse{VolumeGroup: groupMessage(g)}, nil
}

// DeleteVolumeGroup removes an empty group.
func (c groupController) DeleteVolumeGroup(_ context.Context, req *volumegroup.DeleteVolumeGroupRequest) (*volumegroup.DeleteVolumeGroupResponse, error) {
	if err := c.store.DeleteVolumeGroup(req.GetVolumeGroupId()); err != nil {
		return nil, Answer(err)
	}
	return &volumegroup.DeleteVolumeGroupResponse{}, nil
}

// ControllerGetVolumeGroup looks a group up.
func (c groupController) ControllerGetVolumeGroup(_ context.Context, req *volumegroup.ControllerGetVolumeGroupRequest) (*volumegroup.ControllerGetVolumeGroupResponse, error) {
	g, err := c.store.VolumeGroup(req.GetVolumeGroupId())
	if err != nil {
		return nil, Answer(err)
	}
	return &volumegroup.ControllerGetVolumeGroupResponse{VolumeGroup: groupMessage(g)}, nil
}

func groupMessage(g backend.VolumeGroup) *volumegroup.VolumeGroup {
	message := &volumegroup.VolumeGroup{VolumeGroupId: g.ID}
	for _, id := range g.VolumeIDs {
		message.Volumes = append(message.Volumes, &csi.Volume{VolumeId: id})
	}
	return message
}
