package disk

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Controller makes volumes and deletes them.
type Controller struct {
	csi.UnimplementedControllerServer
	Files Files
	Root  string

	lock  sync.Mutex
	sizes map[string]int64 // by volume id
}

// ControllerGetCapabilities reports that volumes can be created and deleted.
func (c *Controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{{
		Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME}},
	}}}, nil
}

// CreateVolume creates a directory with the name of the volume.
func (c *Controller) CreateVolume(_ context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	switch {
	case r.GetName() == "" || strings.Contains(r.GetName(), "/"):
		return nil, status.Error(codes.InvalidArgument, "a volume needs a name without slashes")
	case len(r.GetVolumeCapabilities()) == 0:
		return nil, status.Error(codes.InvalidArgument, "a volume needs capabilities")
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	size := r.GetCapacityRange().GetRequiredBytes()
	if old, known := c.sizes[r.GetName()]; known && old != size {
		return nil, status.Errorf(codes.AlreadyExists, "volume %s has %d bytes, not %d", r.GetName(), old, size)
	}
	if err := c.Files.MkdirAll(path.Join(c.Root, r.GetName()), 0o777); err != nil {
		return nil, status.Errorf(codes.Internal, "make volume %s: %v", r.GetName(), err)
	}
	if c.sizes == nil {
		c.sizes = map[string]int64{}
	}
	c.sizes[r.GetName()] = size
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: r.GetName(), CapacityBytes: size}}, nil
}

// DeleteVolume removes the directory.
func (c *Controller) DeleteVolume(_ context.Context, r *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if r.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "which volume?")
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := c.Files.RemoveAll(path.Join(c.Root, path.Base(r.GetVolumeId()))); err != nil {
		return nil, status.Errorf(codes.Internal, "delete volume %s: %v", r.GetVolumeId(), err)
	}
	delete(c.sizes, r.GetVolumeId())
	return &csi.DeleteVolumeResponse{}, nil
}

// ValidateVolumeCapabilities confirms the capabilities that a directory supports.
func (c *Controller) ValidateVolumeCapabilities(_ context.Context, r *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if r.GetVolumeId() == "" || len(r.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "which volume and capabilities?")
	}
	if _, err := c.Files.Lstat(path.Join(c.Root, path.Base(r.GetVolumeId()))); errors.Is(err, fs.ErrNotExist) {
		return nil, status.Errorf(codes.NotFound, "there is no volume %s", r.GetVolumeId())
	}
	return &csi.ValidateVolumeCapabilitiesResponse{
		Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: r.GetVolumeCapabilities()},
	}, nil
}
