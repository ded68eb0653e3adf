//go:build linux

package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
	"github.com/csisim/csisim/drivers/hostdir/internal/loop"
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
	if n.cfg.Broken.Has(broken.PublishRaces) {
		broken.CountPublished()
	}
	n.fencing.RLock()
	defer n.fencing.RUnlock()
	if n.isInline(req) {
		if err := n.publishInline(req, a); err != nil {
			return nil, answer(err)
		}
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if a.block && n.cfg.Broken.Has(broken.BlockNotPublished) {
		return nil, invalid("block volumes are not supported")
	}
	if n.cfg.Stage && req.GetStagingTargetPath() == "" {
		return nil, precondition("staging_target_path is required: the driver stages volumes")
	}
	v, readOnly, err := n.usable(req.GetVolumeId(), a, req.GetPublishContext())
	if err != nil {
		return nil, err
	}
	if v.Block && !readOnly { // it may have been unpublished while the node was fenced
		if err := n.shutDevice(v.ID, false); err != nil {
			return nil, answer(err)
		}
	}
	target, err := mount.Resolve(req.GetTargetPath())
	if err != nil {
		return nil, invalid("the parent directory of target_path must exist: %v", err)
	}
	source, err := n.source(v, req.GetStagingTargetPath(), readOnly)
	if err != nil {
		return nil, answer(err)
	}
	flags := a.flags
	if readOnly || req.GetReadonly() {
		flags |= mount.ReadOnly
	}
	if n.cfg.Broken.Has(broken.ReadOnlySticks) {
		first, _ := n.remembered.LoadOrStore("flags of "+v.ID, flags)
		flags = first.(mount.Flags)
	}
	p := placement.Placement{
		VolumeID: v.ID, Path: target, Target: true,
		ReadOnly: flags&mount.ReadOnly != 0, Mode: a.mode.String(), Flags: a.flagList(),
	}
	if err := n.publish(v, source, p, a, flags); err != nil {
		return nil, answer(err)
	}
	if group := req.GetVolumeCapability().GetMount().GetVolumeMountGroup(); n.cfg.MountGroup && group != "" && !p.ReadOnly {
		if err := giveToGroup(target, group); err != nil {
			return nil, answer(err)
		}
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

// giveToGroup makes a directory writable for a group. New files in it belong to the group, too.
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

// publish executes the steps that an earlier call, killed at any point, has not executed.
func (n *node) publish(v backend.Volume, source string, p placement.Placement, a access, flags mount.Flags) error {
	if n.cfg.Broken.Has(broken.IgnoreReadOnly) {
		flags &^= mount.ReadOnly
	}
	if n.cfg.Broken.Has(broken.MountFlagsIgnored) {
		flags &= mount.ReadOnly
	}
	if n.cfg.Broken.Misplaces() && !v.Block {
		return n.cfg.Broken.Misplace(source, p.Path)
	}
	done, err := n.placed(p, source)
	if err != nil {
		return err
	}
	if !done {
		if err := n.admit(p, a); err != nil {
			return err
		}
	}
	if !done || n.cfg.Broken.Has(broken.PublishNotIdempotent) {
		if err := n.ledger.Put(p); err != nil {
			return err
		}
		if n.cfg.Broken.Has(broken.CallsOverlap) {
			time.Sleep(50 * time.Millisecond)
		}
		if err := makeTarget(p.Path, v.Block); err != nil {
			return err
		}
		if err := n.bind(source, p.Path, flags); err != nil {
			if n.cfg.Broken.Has(broken.PublishIgnoresErrors) {
				return nil
			}
			return err
		}
	}
	if !done && n.cfg.Broken.Has(broken.PublishLeavesProcess) {
		if err := broken.StartProcess(p.Path); err != nil {
			return err
		}
	}
	if !done && n.cfg.Broken.Has(broken.PublishLeavesFile) {
		if err := broken.LeaveFile(n.store.Dir()); err != nil {
			return err
		}
	}
	if !done && n.cfg.Broken.Has(broken.PublishLeavesZombie) {
		if err := broken.LeaveZombie(); err != nil {
			return err
		}
	}
	if !done && n.cfg.Broken.Has(broken.PublishExits) {
		broken.Exit()
	}
	if n.cfg.Broken.Has(broken.PublishUnmountsOthers) {
		if err := broken.UnmountOthers(p.Path, n.ledger.Has); err != nil {
			return err
		}
	}
	if flags == 0 {
		return nil
	}
	return mount.Restrict(p.Path, flags)
}

func (n *node) bind(source, target string, flags mount.Flags) error {
	switch {
	case flags&mount.ReadOnly != 0 && n.cfg.Broken.Has(broken.RemountReadOnly):
		return mount.Bind(source, target)
	case flags&mount.ReadOnly != 0 && n.cfg.Broken.Has(broken.ReadOnlyForAll):
		if err := mount.Restrict(source, mount.ReadOnly); err != nil {
			return err
		}
	case flags&mount.ReadOnly != 0 && n.cfg.Broken.Has(broken.ReadOnlyTopOnly):
		return broken.BindBelow(source, target, flags)
	}
	return mount.BindRestricted(source, target, flags)
}

// source returns the path that a publish binds: the staged volume, or without staging the volume
// itself.
func (n *node) source(v backend.Volume, staging string, readOnly bool) (string, error) {
	if n.restarted && n.cfg.Broken.Has(broken.PublishWrongVolume) {
		return n.wrongSource(v, readOnly)
	}
	if !n.cfg.Stage {
		return n.unstagedSource(v, readOnly)
	}
	if v.Block {
		devices, err := loop.Find(n.label(v.ID))
		if err == nil && len(devices) == 0 {
			return "", precondition("volume %s is not staged: it has no loop device", v.ID)
		}
		if err != nil {
			return "", err
		}
		if n.cfg.Broken.Has(broken.DeviceRemembered) {
			first, _ := n.devices.LoadOrStore(v.ID, devices[0].Path)
			return first.(string), nil
		}
		if n.cfg.Broken.Has(broken.DeviceRecorded) {
			return broken.RecordedDevice(n.cfg.NodeStateDir, v.ID, devices[0].Path, n.restarted)
		}
		return devices[0].Path, nil
	}
	table, err := mount.Read()
	if err != nil {
		return "", err
	}
	resolved, err := mount.Resolve(staging)
	if err == nil && n.cfg.Broken.Has(broken.TrustRecords) {
		return resolved, nil
	}
	if err != nil || !table.Shows(n.store.DataPath(v), resolved) {
		return "", precondition("volume %s is not staged at %s", v.ID, staging)
	}
	return resolved, nil
}

func (n *node) unstagedSource(v backend.Volume, readOnly bool) (string, error) {
	if !v.Block {
		return n.store.DataPath(v), nil
	}
	device, err := loop.Attach(n.store.DataPath(v), n.label(v.ID), readOnly)
	return device.Path, err
}

// wrongSource returns another volume of the same kind, or v when there is none.
func (n *node) wrongSource(v backend.Volume, readOnly bool) (string, error) {
	all, err := n.store.Volumes()
	if err != nil {
		return "", err
	}
	wrong := n.store.DataPath(v)
	for _, other := range all {
		if other.ID != v.ID && other.Block == v.Block {
			wrong = n.store.DataPath(other)
		}
	}
	if !v.Block {
		return wrong, nil
	}
	device, err := loop.Attach(wrong, n.label(v.ID), readOnly)
	return device.Path, err
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
	recorded, err := n.ledger.Of(volumeID)
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
		return nil, answer(err)
	}
	if !was && n.cfg.Broken.Has(broken.UnpublishNotFound) {
		return nil, status.Errorf(codes.NotFound, "volume %s is not published at %s", req.GetVolumeId(), req.GetTargetPath())
	}
	if !was {
		if err := n.known(req.GetVolumeId()); err != nil {
			return nil, err
		}
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

func (n *node) unpublish(volumeID, target string) (was bool, err error) {
	_, known := n.inlines.Load(volumeID)
	if n.cfg.Broken.Has(broken.InlineForgottenOnRestart) && n.restarted && inlineID.MatchString(volumeID) && !known {
		return false, status.Errorf(codes.NotFound, "volume %s is not published", volumeID)
	}
	if n.cfg.Broken.Has(broken.ReadOnlyTopOnly) {
		if err := broken.UnmountBelow(target); err != nil {
			return false, err
		}
	}
	if n.cfg.Broken.Has(broken.UnpublishLeavesMount) {
		return true, nil
	}
	if ends, err := n.cfg.Broken.StatFails(target); ends {
		return true, err
	}
	if n.cfg.TrustsRecords && !n.ledger.Has(target) {
		return true, nil
	}
	if was, err = n.displace(target); err != nil {
		if n.cfg.Broken.Has(broken.UnpublishIgnoresErrors) {
			return true, nil
		}
		if n.cfg.Broken.Has(broken.UnpublishRemovesContent) {
			return true, os.RemoveAll(target)
		}
		return was, err
	}
	if n.cfg.Broken.Has(broken.UnpublishRemovesParent) {
		return was, os.RemoveAll(filepath.Dir(target))
	}
	if n.cfg.Broken.Has(broken.UnpublishLeavesTarget) {
		return was, leaveTarget(target)
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
	if n.cfg.Stage {
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

// leaveTarget puts a file into the remaining target directory.
func leaveTarget(target string) error {
	info, err := os.Stat(target)
	if err != nil || !info.IsDir() {
		return nil
	}
	return os.WriteFile(filepath.Join(target, "content"), []byte("left behind\n"), 0o644)
}
