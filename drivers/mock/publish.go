package mock

import (
	"context"
	"fmt"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	volumes "github.com/csisim/csisim/internal/world/volume"
)

// inline is the key that marks a volume with the lifetime of its pod.
const inline = "csi.storage.k8s.io/ephemeral"

// NodePublishVolume: CSI "NodePublishVolume".
func (n *Node) NodePublishVolume(_ context.Context, req *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := n.checkPublish(req); err != nil {
		return nil, err
	}
	end, err := n.begin(req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer end()
	var v *volume
	var published bool
	if err := n.locked(func() (err error) {
		v, published, err = n.mayPublish(req)
		return err
	}); err != nil {
		return nil, err
	}
	if err := n.staged(v, req); err != nil {
		return nil, err
	}
	readOnly := req.GetReadonly() && !n.driver.faults[publishIgnoresReadonly]
	if err := n.mountTarget(v, published, readOnly, req); err != nil {
		return nil, err
	}
	return &csi.NodePublishVolumeResponse{}, n.locked(func() error {
		n.driver.everKnown[v.id] = true
		n.state.published[req.GetTargetPath()] = mount{
			volumeID:   v.id,
			capability: n.driver.alike(req.GetVolumeCapability()),
			asked:      req.GetReadonly(),
			readOnly:   readOnly,
		}
		return nil
	})
}

func (n *Node) checkPublish(req *csi.NodePublishVolumeRequest) error {
	if err := first(
		required("volume_id", req.GetVolumeId()),
		absolute("target_path", req.GetTargetPath()),
		n.driver.capability(req.GetVolumeCapability()),
	); err != nil {
		return err
	}
	if !n.stages(req) {
		return nil
	}
	if req.GetStagingTargetPath() == "" {
		return status.Error(codes.FailedPrecondition, "staging_target_path is required")
	}
	return absolute("staging_target_path", req.GetStagingTargetPath())
}

func (n *Node) isInline(req *csi.NodePublishVolumeRequest) bool {
	marked, given := req.GetVolumeContext()[inline]
	return n.driver.options.Ephemeral && (marked == "true" || !given && volumes.IsInlineHandle(req.GetVolumeId()))
}

func (n *Node) stages(req *csi.NodePublishVolumeRequest) bool {
	return n.driver.options.stage() && !n.isInline(req)
}

// mayPublish checks a request against the volume and existing publications, by the tables of CSI
// "NodePublishVolume".
func (n *Node) mayPublish(req *csi.NodePublishVolumeRequest) (v *volume, published bool, err error) {
	if n.isInline(req) {
		v = &volume{id: req.GetVolumeId()}
	} else if v, err = n.usable(req.GetVolumeId(), req.GetVolumeCapability(), req.GetVolumeContext(), req.GetPublishContext()); err != nil {
		return nil, false, err
	}
	at, published := n.state.published[req.GetTargetPath()]
	switch {
	case !published:
		return v, false, n.mayPublishBeside(v, req)
	case at.volumeID != v.id:
		return nil, false, status.Errorf(codes.FailedPrecondition, "volume %s is published on that path", at.volumeID)
	case n.driver.faults[publishNotIdempotent]:
		return nil, false, status.Errorf(codes.Internal, "volume %s is published there already", v.id)
	case n.driver.options.strict() && !sameUse(at.capability, at.asked, req.GetVolumeCapability(), req.GetReadonly()):
		return nil, false, status.Errorf(codes.AlreadyExists, "volume %s is published there with another volume_capability or readonly", v.id)
	}
	return v, true, nil
}

// mayPublishBeside checks a new target against the other targets of the volume on this node.
func (n *Node) mayPublishBeside(v *volume, req *csi.NodePublishVolumeRequest) error {
	if n.driver.faults[publishIgnoresAccessMode] {
		return nil
	}
	mode := req.GetVolumeCapability().GetAccessMode().GetMode()
	for _, path := range mountsOf(n.state.published, v.id) {
		if !severalTargets(mode) {
			return status.Errorf(codes.FailedPrecondition, "volume %s is published on %s already, and %s allows one target", v.id, path, mode)
		}
		if n.driver.options.strict() && !proto.Equal(n.state.published[path].capability, req.GetVolumeCapability()) {
			return status.Errorf(codes.FailedPrecondition, "volume %s is published on %s with another volume_capability", v.id, path)
		}
	}
	return nil
}

// staged checks that the volume is at the staging path. This fails after a reboot of the node,
// which removes mounts.
func (n *Node) staged(v *volume, req *csi.NodePublishVolumeRequest) error {
	d := n.driver
	if !n.stages(req) || d.faults[publishNeedsNoStage] {
		return nil
	}
	d.mu.Lock()
	staged := n.state.staged[req.GetStagingTargetPath()].volumeID == v.id
	d.mu.Unlock()
	if staged && req.GetVolumeCapability().GetMount() != nil && d.options.stagingMounts() && !d.faults[stageMountsNothing] {
		var err error
		if staged, err = n.isMounted(req.GetStagingTargetPath(), true); err != nil {
			return err
		}
	}
	if !staged {
		return status.Errorf(codes.FailedPrecondition, "volume %s must be staged before publishing", v.id)
	}
	return nil
}

func (n *Node) mountTarget(v *volume, published, readOnly bool, req *csi.NodePublishVolumeRequest) error {
	if n.state.mounter == nil || n.driver.faults[publishMountsNothing] {
		return nil
	}
	target := req.GetTargetPath()
	mounted, err := n.isMounted(target, published)
	if err != nil || mounted && !n.driver.faults[publishStacksMounts] {
		return err
	}
	switch {
	case req.GetVolumeCapability().GetBlock() != nil, n.driver.faults[publishesDevice]:
		err = n.state.mounter.MountDevice(v.device(), target)
	case n.stages(req) && n.driver.options.stagingMounts():
		err = n.state.mounter.Mount(req.GetStagingTargetPath(), target, readOnly)
	default:
		err = n.state.mounter.Mount(n.driver.shown(v), target, readOnly)
	}
	if err == nil {
		err = n.setGroup(req)
	}
	if err != nil {
		return status.Errorf(codes.Internal, "publish volume %s on %s: %v", v.id, target, err)
	}
	return nil
}

// setGroup changes the group of a published volume to its volume_mount_group, if the Mounter can do
// that.
func (n *Node) setGroup(req *csi.NodePublishVolumeRequest) error {
	group := req.GetVolumeCapability().GetMount().GetVolumeMountGroup()
	mounter, can := n.state.mounter.(GroupMounter)
	if group == "" || req.GetReadonly() || !can {
		return nil
	}
	gid, err := strconv.Atoi(group)
	if err != nil {
		return fmt.Errorf("volume_mount_group: %w", err)
	}
	return mounter.SetGroup(req.GetTargetPath(), gid)
}

// NodeUnpublishVolume: CSI "NodeUnpublishVolume".
func (n *Node) NodeUnpublishVolume(_ context.Context, req *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := first(
		required("volume_id", req.GetVolumeId()),
		absolute("target_path", req.GetTargetPath()),
	); err != nil {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, n.undo(req.GetVolumeId(), req.GetTargetPath(), n.state.published, n.mayUnpublish)
}

// undo unmounts a path and removes its record, if may reports that the path may be mounted.
func (n *Node) undo(volumeID, path string, mounts map[string]mount, may func(volumeID, path string) (bool, error)) error {
	end, err := n.begin(volumeID)
	if err != nil {
		return err
	}
	defer end()
	var undo bool
	if err := n.locked(func() (err error) { undo, err = may(volumeID, path); return err }); err != nil || !undo {
		return err
	}
	if err := n.unmount(path); err != nil {
		return err
	}
	return n.locked(func() error { delete(mounts, path); return nil })
}

// mayUnpublish reports whether the path may be mounted; see mayUnstage for deleted volumes.
func (n *Node) mayUnpublish(volumeID, path string) (undo bool, err error) {
	d := n.driver
	at, published := n.state.published[path]
	switch {
	case !d.everKnown[volumeID]:
		return false, noVolume(volumeID)
	case d.faults[unpublishLeaks], published && at.volumeID != volumeID:
		return false, nil
	case !published && d.faults[unpublishNotIdempotent]:
		return false, status.Errorf(codes.Internal, "volume %s is not published", volumeID)
	case !published && d.faults[forgetPublicationsOnRestart]:
		return false, nil
	}
	return true, nil
}
