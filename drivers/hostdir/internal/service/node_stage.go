//go:build linux

package service

import (
	"context"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// NodeStageVolume bind-mounts a file system volume's directory on the staging path, or attaches a
// loop device to a block volume's image.
func (n *node) NodeStageVolume(_ context.Context, req *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	if !n.Config.Stage {
		return nil, unimplemented("--no-stage")
	}
	if err := require("volume_id", req.GetVolumeId(), "staging_target_path", req.GetStagingTargetPath()); err != nil {
		return nil, err
	}
	a, err := readAccess(req.GetVolumeCapability())
	if err != nil {
		return nil, err
	}
	v, readOnly, err := n.usable(req.GetVolumeId(), a, req.GetPublishContext())
	if err != nil {
		return nil, err
	}
	staging, err := mount.Resolve(req.GetStagingTargetPath())
	if err == nil {
		_, err = os.Stat(staging)
	}
	if err != nil {
		return nil, invalid("staging_target_path must exist: %v", err)
	}
	if v.Block {
		err = n.stageBlock(v, readOnly)
	} else {
		err = n.stageDirectory(v, placement.Placement{
			VolumeID: v.ID, Path: staging, Mode: a.mode.String(), Flags: a.flagList(),
		})
	}
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

func (n *node) stageDirectory(v backend.Volume, p placement.Placement) error {
	done, err := n.placed(p, n.Store.DataPath(v))
	if err != nil || done {
		return err
	}
	if err := n.Records.Put(p); err != nil {
		return err
	}
	return n.Mounts.Stage(v, n.Store.DataPath(v), p.Path)
}

func (n *node) stageBlock(v backend.Volume, readOnly bool) error {
	_, err := n.Devices.Attach(n.Store.DataPath(v), n.Label(v.ID), readOnly)
	return err
}

// placed reports whether the volume is already at p.Path, as p describes.
func (n *node) placed(p placement.Placement, source string) (bool, error) {
	table, err := mount.Read()
	if err != nil {
		return false, err
	}
	if _, mounted := table.At(p.Path); !mounted {
		return false, nil
	}
	old, known, err := n.Records.Get(p.Path)
	if err != nil {
		return false, err
	}
	if !table.Shows(source, p.Path) || (known && old != p) {
		return false, conflict("something other than volume %s with these arguments is mounted at %s", p.VolumeID, p.Path)
	}
	return true, nil
}

// NodeUnstageVolume removes all traces of a complete or incomplete stage.
func (n *node) NodeUnstageVolume(_ context.Context, req *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	if !n.Config.Stage {
		return nil, unimplemented("--no-stage")
	}
	if err := require("volume_id", req.GetVolumeId(), "staging_target_path", req.GetStagingTargetPath()); err != nil {
		return nil, err
	}
	unmounted, err := n.Displace(req.GetStagingTargetPath())
	if err != nil {
		return nil, Answer(err)
	}
	detached, err := n.detachLoop(req.GetVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	if unmounted || detached {
		return &csi.NodeUnstageVolumeResponse{}, nil
	}
	if err := n.known(req.GetVolumeId()); err != nil {
		return nil, err
	}
	return &csi.NodeUnstageVolumeResponse{}, nil
}

func (n *node) detachLoop(volumeID string) (was bool, err error) {
	devices, err := n.Devices.Find(n.Label(volumeID))
	for _, d := range devices {
		if err := n.Devices.Detach(d); err != nil {
			return true, err
		}
	}
	return len(devices) > 0, err
}

// known answers NOT_FOUND for a volume that the backend lacks. Without attachments the controller
// can delete a volume that is still on a node. Its mounts can be removed nevertheless.
func (n *node) known(volumeID string) error {
	if !n.Config.Attach {
		return nil
	}
	exists, err := n.exists(volumeID)
	if err == nil && !exists {
		return status.Errorf(codes.NotFound, "volume %q does not exist", volumeID)
	}
	return Answer(err)
}
