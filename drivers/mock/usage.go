package mock

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// inodesOf returns the number of inodes of a file system of this size, by ext4's default ratio.
func inodesOf(bytes int64) int64 { return bytes / 16384 }

// volumeAt returns the staged or published volume at a path. Both calls with a volume_path need it.
func (n *Node) volumeAt(volumeID, path string) (mount, *volume, error) {
	at, ok := n.state.published[path]
	if !ok {
		at, ok = n.state.staged[path]
	}
	if !ok || at.volumeID != volumeID {
		return mount{}, nil, status.Errorf(codes.NotFound, "volume %s is not at %s", volumeID, path)
	}
	v := n.driver.volumes[volumeID]
	if v == nil {
		v = &volume{id: volumeID, bytes: defaultVolumeBytes} // inline
	}
	return at, v, nil
}

// NodeGetVolumeStats: CSI "NodeGetVolumeStats". The volumes are empty.
func (n *Node) NodeGetVolumeStats(_ context.Context, req *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	d := n.driver
	if !d.options.Stats {
		return nil, notImplemented("NodeGetVolumeStats")
	}
	if err := first(required("volume_id", req.GetVolumeId()), required("volume_path", req.GetVolumePath())); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	at, v, err := n.volumeAt(req.GetVolumeId(), req.GetVolumePath())
	if err != nil {
		return nil, err
	}
	resp := &csi.NodeGetVolumeStatsResponse{Usage: d.usage(at, v)}
	d.fillCondition(v, resp)
	return resp, nil
}

func (d *Driver) usage(at mount, v *volume) []*csi.VolumeUsage {
	if at.capability.GetBlock() != nil {
		return []*csi.VolumeUsage{{Unit: csi.VolumeUsage_BYTES, Total: v.bytes}}
	}
	bytes := &csi.VolumeUsage{Unit: csi.VolumeUsage_BYTES, Total: v.bytes, Available: v.bytes}
	if d.faults[statsNegative] {
		bytes.Available = -1
	}
	inodes := inodesOf(v.bytes)
	return []*csi.VolumeUsage{bytes, {Unit: csi.VolumeUsage_INODES, Total: inodes, Available: inodes}}
}

// NodeExpandVolume implements CSI "NodeExpandVolume". If the controller expands volumes, the node
// only adapts to the new size. Otherwise the node itself enlarges the volume.
func (n *Node) NodeExpandVolume(_ context.Context, req *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	d := n.driver
	if !d.options.NodeExpand {
		return nil, notImplemented("NodeExpandVolume")
	}
	if err := first(
		required("volume_id", req.GetVolumeId()),
		required("volume_path", req.GetVolumePath()),
		capacityRange(req.GetCapacityRange()),
	); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, v, err := n.volumeAt(req.GetVolumeId(), req.GetVolumePath())
	if err != nil {
		return nil, err
	}
	if c := req.GetVolumeCapability(); c != nil && (d.capability(c) != nil || !v.supports(c)) {
		return nil, invalid("volume %s was not made for this volume_capability", v.id)
	}
	if d.options.ControllerExpand && !inRange(v.bytes, req.GetCapacityRange()) {
		return nil, status.Errorf(codes.OutOfRange, "volume %s has %d bytes, which is not in capacity_range", v.id, v.bytes)
	}
	if err := d.grow(v, req.GetCapacityRange()); err != nil {
		return nil, err
	}
	resp := &csi.NodeExpandVolumeResponse{CapacityBytes: v.bytes}
	if d.faults[expandTooLittle] && !d.options.ControllerExpand {
		resp.CapacityBytes--
	}
	return resp, nil
}
