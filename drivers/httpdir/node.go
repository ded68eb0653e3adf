//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// node is the node service: it binds the directory of a volume.
type node struct {
	csi.UnimplementedNodeServer
	id      string
	storage *storage
	dataDir string
}

func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.id}, nil
}

func (*node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (n *node) NodePublishVolume(ctx context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetTargetPath() == "" || r.GetVolumeCapability() == nil {
		return nil, status.Error(codes.InvalidArgument, "volume_id, target_path and volume_capability are required")
	}
	if _, err := n.storage.get(ctx, r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	}
	if err := n.bind(r); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (n *node) bind(r *csi.NodePublishVolumeRequest) error {
	data := filepath.Join(n.dataDir, filepath.Base(r.GetVolumeId()))
	for _, dir := range []string{data, r.GetTargetPath()} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	mounted, err := isMounted(r.GetTargetPath())
	if err != nil {
		return err
	}
	if !mounted {
		if err := unix.Mount(data, r.GetTargetPath(), "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	if flags := mountFlags(r); flags != 0 {
		return unix.Mount("", r.GetTargetPath(), "", unix.MS_BIND|unix.MS_REMOUNT|flags, "")
	}
	return nil
}

func mountFlags(r *csi.NodePublishVolumeRequest) (flags uintptr) {
	if r.GetReadonly() {
		flags |= unix.MS_RDONLY
	}
	for _, flag := range r.GetVolumeCapability().GetMount().GetMountFlags() {
		flags |= map[string]uintptr{"noexec": unix.MS_NOEXEC, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV}[flag]
	}
	return flags
}

func (n *node) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetTargetPath() == "" {
		return nil, status.Error(codes.InvalidArgument, "volume_id and target_path are required")
	}
	for {
		mounted, err := isMounted(r.GetTargetPath())
		if err == nil && mounted {
			err = unix.Unmount(r.GetTargetPath(), 0)
		}
		if err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
		if !mounted {
			break
		}
	}
	if err := os.Remove(r.GetTargetPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// isMounted reports whether a path is a mount point.
func isMounted(path string) (bool, error) {
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false, err
	}
	defer table.Close()
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && fields[4] == path {
			return true, nil
		}
	}
	return false, lines.Err()
}
