package mock

import (
	"context"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// NodeStageVolume implements CSI "NodeStageVolume". A file system is mounted on the staging path. A
// block device needs no action.
func (n *Node) NodeStageVolume(ctx context.Context, req *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	d := n.driver
	if !d.options.stage() {
		return nil, notImplemented("NodeStageVolume")
	}
	if err := first(
		required("volume_id", req.GetVolumeId()),
		absolute("staging_target_path", req.GetStagingTargetPath()),
		d.capability(req.GetVolumeCapability()),
	); err != nil {
		return nil, err
	}
	end, err := n.begin(req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer func() { end() }()
	var v *volume
	var staged bool
	if err := n.locked(func() (err error) {
		v, staged, err = n.mayStage(req)
		return err
	}); err != nil {
		return nil, err
	}
	if err := n.mountStaging(v, staged, req); err != nil {
		return nil, err
	}
	if staged && d.faults[stageKeepsLock] || ctx.Err() != nil && d.faults[deadlineKeepsLock] {
		end = func() {}
	}
	return &csi.NodeStageVolumeResponse{}, n.locked(func() error {
		n.state.staged[req.GetStagingTargetPath()] = mount{volumeID: v.id, capability: n.driver.alike(req.GetVolumeCapability())}
		return nil
	})
}

// mayStage checks a request against the volume and existing stagings.
func (n *Node) mayStage(req *csi.NodeStageVolumeRequest) (v *volume, staged bool, err error) {
	v, err = n.usable(req.GetVolumeId(), req.GetVolumeCapability(), req.GetVolumeContext(), req.GetPublishContext())
	if err != nil {
		return nil, false, err
	}
	at, staged := n.state.staged[req.GetStagingTargetPath()]
	switch {
	case !staged:
		if paths := mountsOf(n.state.staged, v.id); len(paths) > 0 {
			return nil, false, status.Errorf(codes.FailedPrecondition, "volume %s is staged to %s already", v.id, paths[0])
		}
	case at.volumeID != v.id:
		return nil, false, status.Errorf(codes.FailedPrecondition, "volume %s is staged to that path", at.volumeID)
	case n.driver.faults[stageNotIdempotent]:
		return nil, false, status.Errorf(codes.Internal, "volume %s is staged already", v.id)
	case n.driver.options.strict() && !proto.Equal(at.capability, req.GetVolumeCapability()):
		return nil, false, status.Errorf(codes.AlreadyExists, "volume %s is staged with another volume_capability", v.id)
	}
	return v, staged, nil
}

func (n *Node) mountStaging(v *volume, staged bool, req *csi.NodeStageVolumeRequest) error {
	if req.GetVolumeCapability().GetBlock() != nil || n.state.mounter == nil ||
		!n.driver.options.stagingMounts() || n.driver.faults[stageMountsNothing] {
		return nil
	}
	path := req.GetStagingTargetPath()
	mounted, err := n.isMounted(path, staged)
	if err != nil || mounted {
		return err
	}
	if err := n.state.mounter.Mount(n.driver.shown(v), path, false); err != nil {
		return status.Errorf(codes.Internal, "stage volume %s on %s: %v", v.id, path, err)
	}
	return nil
}

// NodeUnstageVolume: CSI "NodeUnstageVolume".
func (n *Node) NodeUnstageVolume(_ context.Context, req *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	d := n.driver
	if !d.options.stage() {
		return nil, notImplemented("NodeUnstageVolume")
	}
	if err := first(
		required("volume_id", req.GetVolumeId()),
		absolute("staging_target_path", req.GetStagingTargetPath()),
	); err != nil {
		return nil, err
	}
	if d.faults[unstageTakesOthers] {
		if err := n.unstageElsewhere(req.GetVolumeId(), req.GetStagingTargetPath()); err != nil {
			return nil, err
		}
	}
	return &csi.NodeUnstageVolumeResponse{}, n.undo(req.GetVolumeId(), req.GetStagingTargetPath(), n.state.staged, n.mayUnstage)
}

// mayUnstage reports whether there can be a mount. A volume that was deleted meanwhile can still be
// unstaged. Otherwise a node that was down would keep its mount for ever.
func (n *Node) mayUnstage(volumeID, path string) (undo bool, err error) {
	d := n.driver
	at, staged := n.state.staged[path]
	switch {
	case !d.everKnown[volumeID]:
		return false, noVolume(volumeID)
	case d.faults[unstageLeaks], staged && at.volumeID != volumeID:
		return false, nil
	case !staged && d.faults[unstageNotIdempotent]:
		return false, status.Errorf(codes.Internal, "volume %s is not staged", volumeID)
	case !staged && d.faults[forgetPublicationsOnRestart]:
		return false, nil
	}
	if targets := mountsOf(n.state.published, volumeID); len(targets) > 0 && !d.faults[unstageWhilePublished] {
		return false, status.Errorf(codes.FailedPrecondition, "volume %s is still published on %s", volumeID, targets[0])
	}
	return true, nil
}

// unstageElsewhere unmounts a volume on the other nodes, unless it is staged on this node.
func (n *Node) unstageElsewhere(volumeID, path string) error {
	d := n.driver
	var others []*nodeState
	d.mu.Lock()
	if _, staged := n.state.staged[path]; !staged {
		for _, id := range slices.Sorted(maps.Keys(d.nodes)) {
			if _, staged := d.nodes[id].staged[path]; staged && id != n.state.id {
				delete(d.nodes[id].staged, path)
				others = append(others, d.nodes[id])
			}
		}
	}
	d.mu.Unlock()
	for _, other := range others {
		if other.mounter == nil {
			continue
		}
		if err := other.mounter.Unmount(path); err != nil {
			return status.Errorf(codes.Internal, "unstage volume %s on node %s: %v", volumeID, other.id, err)
		}
	}
	return nil
}
