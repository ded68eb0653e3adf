package mock

import (
	"context"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ControllerExpandVolume: CSI "ControllerExpandVolume".
func (s *Controller) ControllerExpandVolume(_ context.Context, req *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	d := s.driver
	if !d.options.ControllerExpand {
		return nil, notImplemented("ControllerExpandVolume")
	}
	if err := required("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if req.GetCapacityRange() == nil {
		return nil, invalid("capacity_range is required")
	}
	if err := capacityRange(req.GetCapacityRange()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[req.GetVolumeId()]
	if v == nil {
		return nil, noVolume(req.GetVolumeId())
	}
	if c := req.GetVolumeCapability(); c != nil && (d.capability(c) != nil || !v.supports(c)) {
		return nil, invalid("volume %s was not made for this volume_capability", v.id)
	}
	if nodes := d.usersOf(v); d.options.OfflineExpand && len(nodes) > 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is published on %v and expands only offline", v.id, nodes)
	}
	if d.faults[expandNotIdempotent] && v.bytes == req.GetCapacityRange().GetRequiredBytes() {
		return nil, status.Errorf(codes.Internal, "volume %s has %d bytes already", v.id, v.bytes)
	}
	if err := d.grow(v, req.GetCapacityRange()); err != nil {
		return nil, err
	}
	bytes := v.bytes
	if d.faults[expandTooLittle] {
		bytes = req.GetCapacityRange().GetRequiredBytes() - 1
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: bytes, NodeExpansionRequired: d.options.NodeExpand}, nil
}

// grow enlarges a volume to the required size. It does not change a volume that is large enough.
func (d *Driver) grow(v *volume, r *csi.CapacityRange) error {
	bytes := max(v.bytes, r.GetRequiredBytes())
	if !inRange(bytes, r) {
		return status.Errorf(codes.OutOfRange, "volume %s has %d bytes, more than limit_bytes", v.id, v.bytes)
	}
	if limit := d.options.MaximumVolumeBytes; limit > 0 && bytes > limit {
		return status.Errorf(codes.OutOfRange, "expand volume %s: %d bytes are more than a volume can have, %d bytes", v.id, bytes, limit)
	}
	if err := d.fits(bytes, v.bytes); err != nil {
		// CSI "ControllerExpandVolume Errors" has a single code for an impossible size.
		return status.Errorf(codes.OutOfRange, "expand volume %s: %s", v.id, status.Convert(err).Message())
	}
	d.usedBytes += bytes - v.bytes
	v.bytes = bytes
	return nil
}

// ControllerModifyVolume: CSI "ControllerModifyVolume".
func (s *Controller) ControllerModifyVolume(_ context.Context, req *csi.ControllerModifyVolumeRequest) (*csi.ControllerModifyVolumeResponse, error) {
	d := s.driver
	if !d.options.ModifyVolume {
		return nil, notImplemented("ControllerModifyVolume")
	}
	if err := required("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if len(req.GetMutableParameters()) == 0 {
		return nil, invalid("mutable_parameters is required")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[req.GetVolumeId()]
	if v == nil {
		return nil, noVolume(req.GetVolumeId())
	}
	if err := d.mutableParameters(req.GetMutableParameters()); err != nil {
		return nil, err
	}
	if v.mutable == nil {
		v.mutable = map[string]string{}
	}
	maps.Copy(v.mutable, req.GetMutableParameters())
	return &csi.ControllerModifyVolumeResponse{}, nil
}

func (d *Driver) mutableParameters(given map[string]string) error {
	accepted := d.options.MutableParameters
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if len(accepted) > 0 && !slices.Contains(accepted, key) {
			return invalid("mutable parameter %q is not supported", key)
		}
	}
	return nil
}

// ValidateVolumeCapabilities: CSI "ValidateVolumeCapabilities".
func (s *Controller) ValidateVolumeCapabilities(_ context.Context, req *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	d := s.driver
	if err := required("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if len(req.GetVolumeCapabilities()) == 0 {
		return nil, invalid("volume_capabilities is required")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[req.GetVolumeId()]
	if v == nil {
		return nil, noVolume(req.GetVolumeId())
	}
	if err := d.validate(v, req); err != nil {
		return &csi.ValidateVolumeCapabilitiesResponse{Message: status.Convert(err).Message()}, nil
	}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeContext:      req.GetVolumeContext(),
		VolumeCapabilities: req.GetVolumeCapabilities(),
		Parameters:         req.GetParameters(),
		MutableParameters:  req.GetMutableParameters(),
	}}, nil
}

func (d *Driver) validate(v *volume, req *csi.ValidateVolumeCapabilitiesRequest) error {
	if err := d.capabilities(req.GetVolumeCapabilities()); err != nil {
		return err
	}
	if !v.supportsAll(req.GetVolumeCapabilities()) {
		return invalid("the volume was not made for these capabilities")
	}
	if len(req.GetParameters()) > 0 && !maps.Equal(v.parameters.Go(), req.GetParameters()) {
		return invalid("the volume was made with other parameters")
	}
	if len(req.GetMutableParameters()) > 0 && !d.options.ModifyVolume {
		return invalid("mutable_parameters need MODIFY_VOLUME")
	}
	return d.mutableParameters(req.GetMutableParameters())
}
