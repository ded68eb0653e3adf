//go:build linux

package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// NodePublishVolume binds the staged volume on the target path.
func (n *node) NodePublishVolume(_ context.Context, req *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId(), "target_path", req.GetTargetPath()); err != nil {
		return nil, err
	}
	a, err := readAccess(req.GetVolumeCapability())
	if err != nil {
		return nil, err
	}
	n.fencing.RLock()
	defer n.fencing.RUnlock()
	if n.isInline(req) {
		if err := n.publishInline(req, a); err != nil {
			return nil, Answer(err)
		}
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if n.Config.Stage && req.GetStagingTargetPath() == "" {
		return nil, precondition("staging_target_path is required: the driver stages volumes")
	}
	v, readOnly, err := n.usable(req.GetVolumeId(), a, req.GetPublishContext())
	if err != nil {
		return nil, err
	}
	if v.Block && !readOnly { // the volume may have been unpublished while the node was fenced
		if err := n.shutDevice(v.ID, false); err != nil {
			return nil, Answer(err)
		}
	}
	target, err := mount.Resolve(req.GetTargetPath())
	if err != nil {
		return nil, invalid("the parent directory of target_path must exist: %v", err)
	}
	source, err := n.Sources.Source(v, req.GetStagingTargetPath(), readOnly)
	if err != nil {
		return nil, Answer(err)
	}
	flags := a.flags
	if readOnly || req.GetReadonly() {
		flags |= mount.ReadOnly
	}
	p := placement.Placement{
		VolumeID: v.ID, Path: target, Target: true,
		ReadOnly: flags&mount.ReadOnly != 0, Mode: a.mode.String(), Flags: a.flagList(),
	}
	if err := n.publish(v, source, p, a, flags); err != nil {
		return nil, Answer(err)
	}
	if group := req.GetVolumeCapability().GetMount().GetVolumeMountGroup(); n.Config.MountGroup && group != "" && !p.ReadOnly {
		if err := giveToGroup(target, group); err != nil {
			return nil, Answer(err)
		}
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

// giveToGroup makes a directory writable for a group. New files in it also belong to the group.
func giveToGroup(dir, group string) error {
	gid, err := strconv.Atoi(group)
	if err != nil {
		return invalid("volume_mount_group %q is no number", group)
	}
	if err := os.Chown(dir, -1, gid); err != nil {
		return err
	}
	return os.Chmod(dir, 0o770|os.ModeSetgid)
}

// publish executes the steps that an earlier, killed call has left undone.
func (n *node) publish(v backend.Volume, source string, p placement.Placement, a access, flags mount.Flags) error {
	done, err := n.placed(p, source)
	if err != nil {
		return err
	}
	if !done {
		if err := n.admit(p, a); err != nil {
			return err
		}
		if err := n.Records.Put(p); err != nil {
			return err
		}
		if err := makeTarget(p.Path, v.Block); err != nil {
			return err
		}
		if err := n.Mounts.Publish(v, source, p.Path, flags); err != nil {
			return err
		}
	}
	if flags == 0 {
		return nil
	}
	return n.Mounts.Restrict(p.Path, flags)
}

// admit rejects a second target path for a volume that may have only one.
func (n *node) admit(p placement.Placement, a access) error {
	others, err := n.targets(p.VolumeID)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Path != p.Path && a.singleTarget() {
			return precondition("volume %s with access mode %s is published at %s already", p.VolumeID, p.Mode, other.Path)
		}
	}
	return nil
}

// targets lists the paths on this node at which the volume is published.
func (n *node) targets(volumeID string) ([]placement.Placement, error) {
	recorded, err := n.Records.Of(volumeID)
	if err != nil {
		return nil, err
	}
	table, err := mount.Read()
	if err != nil {
		return nil, err
	}
	var published []placement.Placement
	for _, p := range recorded {
		if _, mounted := table.At(p.Path); mounted && p.Target {
			published = append(published, p)
		}
	}
	return published, nil
}

func makeTarget(path string, block bool) error {
	if !block {
		err := os.Mkdir(path, 0o750)
		if errors.Is(err, os.ErrExist) {
			return nil
		}
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE, 0o660)
	if err != nil {
		return err
	}
	return file.Close()
}

// NodeUnpublishVolume unmounts the target and removes the directory or file that
// publishing made.
func (n *node) NodeUnpublishVolume(_ context.Context, req *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId(), "target_path", req.GetTargetPath()); err != nil {
		return nil, err
	}
	n.fencing.RLock()
	defer n.fencing.RUnlock()
	was, err := n.unpublish(req.GetVolumeId(), req.GetTargetPath())
	if err != nil {
		return nil, Answer(err)
	}
	if !was {
		if err := n.known(req.GetVolumeId()); err != nil {
			return nil, err
		}
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

func (n *node) unpublish(volumeID, target string) (was bool, err error) {
	if n.Config.TrustsRecords && !n.Records.Has(target) {
		return true, nil
	}
	if was, err = n.Displace(target); err != nil {
		return was, err
	}
	switch err := os.Remove(target); {
	case err == nil:
		was = true
	case !errors.Is(err, os.ErrNotExist):
		return was, fmt.Errorf("remove target: %w", err)
	}
	if n.isInlineID(volumeID) {
		removed, err := n.removeInline(volumeID)
		return was || removed, err
	}
	if n.Config.Stage {
		return was, nil
	}
	// Without staging, unpublishing the last target detaches the loop device.
	left, err := n.targets(volumeID)
	if err != nil || len(left) > 0 {
		return was, err
	}
	detached, err := n.detachLoop(volumeID)
	return was || detached, err
}
