//go:build linux

package service

import (
	"context"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

func (n *node) NodeGetVolumeStats(_ context.Context, req *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	if err := require("volume_id", req.GetVolumeId(), "volume_path", req.GetVolumePath()); err != nil {
		return nil, err
	}
	if _, err := os.Stat(n.Inlines.Dir(req.GetVolumeId())); n.Config.Inline && err == nil {
		return measured(req.GetVolumePath(), 0)
	}
	v, err := n.Store.Volume(req.GetVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	if err := n.visible(v, req.GetVolumePath()); err != nil {
		return nil, Answer(err)
	}
	if v.Block {
		return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{
			{Unit: csi.VolumeUsage_BYTES, Total: v.CapacityBytes},
		}}, nil
	}
	return measured(req.GetVolumePath(), v.CapacityBytes)
}

// measured returns the usage of a volume's directory. An inline volume has no size, so its total
// equals its usage.
func measured(path string, capacity int64) (*csi.NodeGetVolumeStatsResponse, error) {
	used, err := usage(path)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "measure %s: %v", path, err)
	}
	return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{
		{Unit: csi.VolumeUsage_BYTES, Total: max(capacity, used.bytes), Used: used.bytes, Available: max(0, capacity-used.bytes)},
		{Unit: csi.VolumeUsage_INODES, Total: used.files, Used: used.files},
	}}, nil
}

// NodeExpandVolume enlarges a loop device to the size of its image. A directory has grown with the
// backend's record.
func (n *node) NodeExpandVolume(_ context.Context, req *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId(), "volume_path", req.GetVolumePath()); err != nil {
		return nil, err
	}
	required, _, err := readRange(req.GetCapacityRange())
	if err != nil {
		return nil, err
	}
	v, err := n.Store.Volume(req.GetVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	if err := checkExpanded(v, req.GetVolumeCapability()); err != nil {
		return nil, err
	}
	if n.Config.Without[withoutControllerExpand] {
		if v, err = n.Store.ExpandVolume(v.ID, required, 0); err != nil {
			return nil, Answer(err)
		}
	}
	if required > v.CapacityBytes {
		return nil, status.Errorf(codes.OutOfRange, "volume %s has %d bytes: ControllerExpandVolume comes first", v.ID, v.CapacityBytes)
	}
	if v.Block {
		err = n.growDevice(v)
	} else {
		err = n.visible(v, req.GetVolumePath())
	}
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.NodeExpandVolumeResponse{CapacityBytes: v.CapacityBytes}, nil
}

func (n *node) growDevice(v backend.Volume) error {
	devices, err := n.Devices.Find(n.Label(v.ID))
	if err != nil {
		return err
	}
	if len(devices) == 0 {
		return status.Errorf(codes.NotFound, "volume %s has no device on this node", v.ID)
	}
	for _, d := range devices {
		if err := n.Devices.Refresh(d); err != nil {
			return err
		}
	}
	return nil
}

// visible answers NOT_FOUND unless the volume is staged or published at path.
func (n *node) visible(v backend.Volume, path string) error {
	missing := status.Errorf(codes.NotFound, "volume %s is not at %s", v.ID, path)
	there, err := os.Stat(path)
	if err != nil {
		return missing
	}
	if !v.Block {
		content, err := os.Stat(n.Store.DataPath(v))
		if err != nil || !os.SameFile(there, content) {
			return missing
		}
		return nil
	}
	devices, err := n.Devices.Find(n.Label(v.ID))
	if err != nil {
		return err
	}
	for _, d := range devices {
		if sameDevice(d.Path, path) {
			return nil
		}
	}
	return missing
}

func sameDevice(a, b string) bool {
	var sa, sb unix.Stat_t
	return unix.Stat(a, &sa) == nil && unix.Stat(b, &sb) == nil &&
		sa.Mode&unix.S_IFMT == unix.S_IFBLK && sb.Mode&unix.S_IFMT == unix.S_IFBLK && sa.Rdev == sb.Rdev
}
