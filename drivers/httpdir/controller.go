//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// controller is the controller service.
type controller struct {
	csi.UnimplementedControllerServer
	storage *storage
	dataDir string
}

// smallest is the default size of a volume.
const smallest = 1 << 20

func (c *controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	var all []*csi.ControllerServiceCapability
	for _, one := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME, csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
		csi.ControllerServiceCapability_RPC_LIST_VOLUMES,
	} {
		all = append(all, &csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{
			Rpc: &csi.ControllerServiceCapability_RPC{Type: one},
		}})
	}
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: all}, nil
}

func (c *controller) CreateVolume(ctx context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if r.GetName() == "" || len(r.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "name and volume capabilities are required")
	}
	for _, capability := range r.GetVolumeCapabilities() {
		if capability.GetBlock() != nil {
			return nil, status.Error(codes.InvalidArgument, "there are no block volumes")
		}
	}
	size := max(smallest, r.GetCapacityRange().GetRequiredBytes())
	limit := r.GetCapacityRange().GetLimitBytes()
	if limit > 0 && size > limit {
		return nil, status.Errorf(codes.OutOfRange, "%d bytes are more than %d", size, limit)
	}
	made, err := c.storage.create(ctx, r.GetName(), size)
	if err != nil {
		return nil, asStatus(err)
	}
	if made.Size < r.GetCapacityRange().GetRequiredBytes() || limit > 0 && made.Size > limit {
		return nil, status.Errorf(codes.AlreadyExists, "volume %s has %d bytes", r.GetName(), made.Size)
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: made.ID, CapacityBytes: made.Size}}, nil
}

func (c *controller) DeleteVolume(ctx context.Context, r *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if r.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume_id is required")
	}
	if err := os.RemoveAll(filepath.Join(c.dataDir, filepath.Base(r.GetVolumeId()))); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if err := c.storage.remove(ctx, r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (c *controller) ControllerPublishVolume(ctx context.Context, r *csi.ControllerPublishVolumeRequest) (*csi.ControllerPublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetNodeId() == "" || r.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "volume_id, node_id and volume_capability are required")
	}
	if _, err := c.storage.get(ctx, r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	}
	if at, err := c.storage.attachedTo(ctx, r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	} else if isSingleNode(r.GetVolumeCapability()) && slices.ContainsFunc(at, func(node string) bool { return node != r.GetNodeId() }) {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is attached to %v", r.GetVolumeId(), at)
	}
	if err := c.storage.attach(ctx, r.GetVolumeId(), r.GetNodeId()); err != nil {
		return nil, asStatus(err)
	}
	return &csi.ControllerPublishVolumeResponse{}, nil
}

func isSingleNode(c *csi.VolumeCapability) bool {
	switch c.GetAccessMode().GetMode() {
	case csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER, csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY,
		csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER:
		return false
	}
	return true
}

func (c *controller) ControllerUnpublishVolume(ctx context.Context, r *csi.ControllerUnpublishVolumeRequest) (*csi.ControllerUnpublishVolumeResponse, error) {
	if r.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume_id is required")
	}
	if err := c.storage.detach(ctx, r.GetVolumeId(), r.GetNodeId()); err != nil {
		return nil, asStatus(err)
	}
	return &csi.ControllerUnpublishVolumeResponse{}, nil
}

func (c *controller) ValidateVolumeCapabilities(ctx context.Context, r *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if r.GetVolumeId() == "" || len(r.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "volume_id and volume_capabilities are required")
	}
	if _, err := c.storage.get(ctx, r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeCapabilities: r.GetVolumeCapabilities(),
	}}, nil
}

func (c *controller) ListVolumes(ctx context.Context, r *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	all, err := c.storage.list(ctx, nil)
	if err != nil {
		return nil, asStatus(err)
	}
	first := 0
	if token := r.GetStartingToken(); token != "" {
		if first, err = strconv.Atoi(token); err != nil || first < 0 || first > len(all) {
			return nil, status.Errorf(codes.Aborted, "no starting token %q", token)
		}
	}
	answer := &csi.ListVolumesResponse{}
	if most := int(r.GetMaxEntries()); most > 0 && first+most < len(all) {
		all, answer.NextToken = all[:first+most], strconv.Itoa(first+most)
	}
	for _, v := range all[first:] {
		answer.Entries = append(answer.Entries, &csi.ListVolumesResponse_Entry{Volume: &csi.Volume{VolumeId: v.ID, CapacityBytes: v.Size}})
	}
	return answer, nil
}
