//go:build linux

package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
	"github.com/csisim/csisim/drivers/hostdir/internal/loop"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// NodeStageVolume binds a file system volume's directory on the staging path, or
// attaches a loop device to a block volume's image.
func (n *node) NodeStageVolume(_ context.Context, req *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	if !n.cfg.Stage {
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
		return nil, answer(err)
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

func (n *node) stageDirectory(v backend.Volume, p placement.Placement) error {
	done, err := n.placed(p, n.store.DataPath(v))
	if err != nil {
		return err
	}
	if done && n.cfg.Broken.Has(broken.StageNotIdempotent) {
		return status.Errorf(codes.Internal, "volume %s is staged at %s already", v.ID, p.Path)
	}
	if done {
		return nil
	}
	if n.cfg.Broken.Has(broken.TrustRecords) {
		if _, known, err := n.ledger.Get(p.Path); known || err != nil {
			return err
		}
	}
	if err := n.ledger.Put(p); err != nil {
		return err
	}
	n.staged.Store(p.Path, true)
	if n.cfg.Broken.Has(broken.StageLeaksMount) {
		if err := n.leakMount(v); err != nil {
			return err
		}
	}
	if n.cfg.Broken.Has(broken.StageHoardsMemory) {
		broken.HoardMemory()
	}
	if n.cfg.Broken.Has(broken.StagePanics) {
		panic("no backend for volume " + v.ID)
	}
	err = mount.Bind(n.store.DataPath(v), p.Path)
	if err != nil && n.cfg.Broken.Has(broken.StageClears) {
		err = errors.Join(n.store.Wipe(v), mount.Bind(n.store.DataPath(v), p.Path))
	}
	return err
}

// leakMount mounts a directory for a volume at a hidden path.
func (n *node) leakMount(v backend.Volume) error {
	hidden := filepath.Join(n.cfg.NodeStateDir, "hidden", v.ID)
	if err := os.MkdirAll(hidden, 0o755); err != nil {
		return err
	}
	return mount.Bind(hidden, hidden)
}

func (n *node) stageBlock(v backend.Volume, readOnly bool) error {
	if n.cfg.Broken.Has(broken.StageNotIdempotent) {
		if devices, err := loop.Find(n.label(v.ID)); err != nil || len(devices) > 0 {
			return status.Errorf(codes.Internal, "volume %s has a loop device already", v.ID)
		}
	}
	_, err := loop.Attach(n.store.DataPath(v), n.label(v.ID), readOnly)
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
	old, known, err := n.ledger.Get(p.Path)
	if err != nil {
		return false, err
	}
	if !table.Shows(source, p.Path) || (known && old != p) {
		return false, conflict("something other than volume %s with these arguments is mounted at %s", p.VolumeID, p.Path)
	}
	return true, nil
}

// NodeUnstageVolume removes everything that a stage, complete or not, left behind.
func (n *node) NodeUnstageVolume(_ context.Context, req *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	if !n.cfg.Stage {
		return nil, unimplemented("--no-stage")
	}
	if err := require("volume_id", req.GetVolumeId(), "staging_target_path", req.GetStagingTargetPath()); err != nil {
		return nil, err
	}
	if n.cfg.Broken.Has(broken.UnstageLeavesMount) {
		return &csi.NodeUnstageVolumeResponse{}, nil
	}
	unmounted, err := n.displace(req.GetStagingTargetPath())
	if err != nil {
		return nil, answer(err)
	}
	detached, err := n.detachLoop(req.GetVolumeId())
	if err != nil {
		return nil, answer(err)
	}
	if unmounted && n.cfg.Broken.Has(broken.UnstageFailsOnce) {
		return nil, status.Errorf(codes.Internal, "volume %s is unmounted, and something else went wrong", req.GetVolumeId())
	}
	if unmounted || detached {
		return &csi.NodeUnstageVolumeResponse{}, nil
	}
	if err := n.known(req.GetVolumeId()); err != nil {
		return nil, err
	}
	return &csi.NodeUnstageVolumeResponse{}, nil
}

// displace unmounts path and forgets it. A missing path is no error.
func (n *node) displace(path string) (was bool, err error) {
	path, err = mount.Resolve(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if n.cfg.TrustsRecords && !n.ledger.Has(path) {
		return false, nil
	}
	unmount := mount.Unmount
	if n.cfg.Broken.Has(broken.UnmountsLazily) {
		unmount = mount.UnmountLazily
	}
	if was, err = unmount(path); err != nil {
		if _, own := n.staged.Load(path); n.cfg.Broken.Has(broken.UnstageForgives) && !own {
			return true, nil
		}
		return was, err
	}
	return was, n.ledger.Drop(path)
}

func (n *node) detachLoop(volumeID string) (was bool, err error) {
	if n.cfg.Broken.Has(broken.BlockLeaksLoop) {
		return false, nil
	}
	devices, err := loop.Find(n.label(volumeID))
	for _, d := range devices {
		if err := d.Detach(); err != nil {
			return true, err
		}
	}
	return len(devices) > 0, err
}

// known answers NOT_FOUND for a volume that the backend does not have.
func (n *node) known(volumeID string) error {
	exists, err := n.exists(volumeID)
	if err == nil && !exists {
		return status.Errorf(codes.NotFound, "volume %q does not exist", volumeID)
	}
	return answer(err)
}
