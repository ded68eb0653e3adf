package mock

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// publishContext returns the context of every attachment.
func (d *Driver) publishContext() map[string]string {
	if !d.options.marks() {
		return nil
	}
	return map[string]string{"devicePath": "/dev/stub0", createdBy: "controller-publish"}
}

// ControllerPublishVolume: CSI "ControllerPublishVolume".
func (s *Controller) ControllerPublishVolume(_ context.Context, req *csi.ControllerPublishVolumeRequest) (*csi.ControllerPublishVolumeResponse, error) {
	d := s.driver
	if !d.options.attach() {
		return nil, notImplemented("ControllerPublishVolume")
	}
	if err := first(
		required("volume_id", req.GetVolumeId()),
		required("node_id", req.GetNodeId()),
		d.capability(req.GetVolumeCapability()),
	); err != nil {
		return nil, err
	}
	if req.GetReadonly() && !d.options.publishReadonly() {
		return nil, invalid("readonly needs the capability PUBLISH_READONLY")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.attach(req); err != nil {
		return nil, err
	}
	return &csi.ControllerPublishVolumeResponse{PublishContext: d.publishContext()}, nil
}

func (d *Driver) attach(req *csi.ControllerPublishVolumeRequest) error {
	v, n := d.volumes[req.GetVolumeId()], d.nodes[req.GetNodeId()]
	if v == nil {
		return noVolume(req.GetVolumeId())
	}
	if n == nil {
		return status.Errorf(codes.NotFound, "node %s does not exist", req.GetNodeId())
	}
	at, attached := v.attachments.Find(n.id)
	if attached && d.options.strict() && !d.faults[attachNotIdempotent] && !sameUse(at.capability, at.readOnly, req.GetVolumeCapability(), req.GetReadonly()) {
		return status.Errorf(codes.AlreadyExists, "volume %s is attached to node %s with another volume_capability or readonly", v.id, n.id)
	}
	if err := d.contextOf(v, req.GetVolumeContext()); err != nil {
		return err
	}
	if !v.supports(req.GetVolumeCapability()) {
		return invalid("volume %s was not made for this volume_capability", v.id)
	}
	if !v.accessibleOn(n) {
		return invalid("volume %s is not accessible from node %s", v.id, n.id)
	}
	switch {
	case attached && d.faults[attachNotIdempotent]:
		return status.Errorf(codes.Internal, "volume %s is attached to node %s already", v.id, n.id)
	case attached:
		return nil
	}
	if err := d.mayAttachBeside(v, req); err != nil {
		return err
	}
	if limit := n.limit; limit > 0 && d.attachedTo(n.id) >= limit {
		return status.Errorf(codes.ResourceExhausted, "node %s has %d volumes attached, its maximum", n.id, limit)
	}
	v.attachments.Set(n.id, attachment{capability: d.alike(req.GetVolumeCapability()), readOnly: req.GetReadonly()})
	return nil
}

// mayAttachBeside checks whether a new attachment is compatible with attachments to other nodes.
func (d *Driver) mayAttachBeside(v *volume, req *csi.ControllerPublishVolumeRequest) error {
	if d.faults[attachesTwice] {
		return nil
	}
	mode := req.GetVolumeCapability().GetAccessMode().GetMode()
	for _, other := range v.nodeIDs() {
		at := v.attachments.Get(other)
		if !multiNode(mode) || !multiNode(at.capability.GetAccessMode().GetMode()) {
			return status.Errorf(codes.FailedPrecondition, "volume %s is attached to node %s already", v.id, other)
		}
		if mode == csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER && !req.GetReadonly() && !at.readOnly {
			return status.Errorf(codes.FailedPrecondition, "volume %s has a writer on node %s already", v.id, other)
		}
	}
	return nil
}

func (d *Driver) attachedTo(nodeID string) int64 {
	var count int64
	for _, v := range d.volumes {
		if _, attached := v.attachments.Find(nodeID); attached {
			count++
		}
	}
	return count
}

// ControllerUnpublishVolume implements CSI "ControllerUnpublishVolume". An unknown volume or node
// is not an error, since the volume is certainly not attached.
func (s *Controller) ControllerUnpublishVolume(_ context.Context, req *csi.ControllerUnpublishVolumeRequest) (*csi.ControllerUnpublishVolumeResponse, error) {
	d := s.driver
	if !d.options.attach() {
		return nil, notImplemented("ControllerUnpublishVolume")
	}
	if err := required("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[req.GetVolumeId()]
	if d.faults[detachNotIdempotent] && (v == nil || len(v.attachments) == 0) {
		return nil, status.Errorf(codes.Internal, "volume %s is not attached", req.GetVolumeId())
	}
	switch {
	case v == nil || d.faults[detachLeaks]:
	case req.GetNodeId() == "":
		v.attachments = nil
	default:
		if _, attached := v.attachments.Find(req.GetNodeId()); !attached && d.faults[detachTakesAll] {
			v.attachments = nil
		}
		v.attachments.Delete(req.GetNodeId())
	}
	return &csi.ControllerUnpublishVolumeResponse{}, nil
}
