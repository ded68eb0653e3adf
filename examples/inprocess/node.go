package disk

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Node bind-mounts volumes for pods.
type Node struct {
	csi.UnimplementedNodeServer
	ID    string
	Files Files
	Root  string
}

// NodeGetInfo returns the node's id.
func (n *Node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.ID}, nil
}

// NodeGetCapabilities reports that volumes are not staged.
func (n *Node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

// NodePublishVolume binds the volume's directory on the target.
func (n *Node) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	target := r.GetTargetPath()
	if r.GetVolumeId() == "" || target == "" || r.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "which volume, how and where?")
	}
	if mounted, err := n.Files.IsMountPoint(target); err == nil && mounted {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	source := path.Join(n.Root, path.Base(r.GetVolumeId()))
	for _, directory := range []string{source, target} {
		if err := n.Files.MkdirAll(directory, 0o777); err != nil {
			return nil, status.Errorf(codes.Internal, "make %s: %v", directory, err)
		}
	}
	if err := n.Files.BindMount(source, target, r.GetReadonly()); err != nil {
		return nil, status.Errorf(codes.Internal, "bind %s: %v", source, err)
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

// NodeUnpublishVolume unmounts and removes the target.
func (n *Node) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	target := r.GetTargetPath()
	if r.GetVolumeId() == "" || target == "" {
		return nil, status.Error(codes.InvalidArgument, "which volume and where?")
	}
	mounted, err := n.Files.IsMountPoint(target)
	if err == nil && mounted {
		err = n.Files.Unmount(target)
	}
	if err == nil {
		err = n.Files.Remove(target)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, status.Errorf(codes.Internal, "take volume %s off: %v", r.GetVolumeId(), err)
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}
