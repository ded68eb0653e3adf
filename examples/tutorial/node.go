package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// node publishes volumes on one node.
type node struct {
	csi.UnimplementedNodeServer
	id, root string
	lock     sync.Mutex // calls change mounts one after the other
}

func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.id}, nil
}

func (n *node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

// NodePublishVolume binds the directory of the volume to the target path.
func (n *node) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetTargetPath() == "" || r.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "volume ID, target path and capability are required")
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	if err := os.MkdirAll(r.GetTargetPath(), 0o750); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	source := filepath.Join(n.root, r.GetVolumeId())
	if err := unix.Mount(source, r.GetTargetPath(), "", unix.MS_BIND, ""); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if r.GetReadonly() {
		readOnly := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
		if err := unix.Mount("", r.GetTargetPath(), "", readOnly, ""); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

// NodeUnpublishVolume unmounts the target path and removes it.
func (n *node) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetTargetPath() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume ID and target path are required")
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	if mounted(r.GetTargetPath()) {
		if err := unix.Unmount(r.GetTargetPath(), 0); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
	}
	if err := os.Remove(r.GetTargetPath()); err != nil && !os.IsNotExist(err) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// mounted reports whether something is mounted at path.
func mounted(path string) bool {
	var found unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &found)
	return err == nil && found.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
