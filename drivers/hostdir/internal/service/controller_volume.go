//go:build linux

package service

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

func (c *controller) CreateVolume(_ context.Context, req *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if err := require("name", req.GetName()); err != nil {
		return nil, err
	}
	block, err := readAccesses(req.GetVolumeCapabilities())
	if err != nil {
		return nil, err
	}
	source, err := readSource(req.GetVolumeContentSource())
	if err != nil {
		return nil, err
	}
	required, limit, err := readRange(req.GetCapacityRange())
	if err != nil {
		return nil, err
	}
	topology, err := c.place(req.GetAccessibilityRequirements())
	if err != nil {
		return nil, err
	}
	v, err := c.store.CreateVolume(backend.VolumeSpec{
		Name: req.GetName(), RequiredBytes: required, LimitBytes: limit,
		Block: block, Source: source, Parameters: req.GetParameters(), Topology: topology,
		Accessible: func(t map[string]string) bool { return accessible(t, req.GetAccessibilityRequirements()) },
	})
	if err != nil {
		return nil, Answer(err)
	}
	volume := describe(v)
	volume.ContentSource = req.GetVolumeContentSource()
	return &csi.CreateVolumeResponse{Volume: volume}, nil
}

func (c *controller) DeleteVolume(_ context.Context, req *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if err := c.store.DeleteVolume(req.GetVolumeId()); err != nil {
		return nil, Answer(err)
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (c *controller) ControllerExpandVolume(_ context.Context, req *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if req.GetCapacityRange() == nil {
		return nil, invalid("capacity_range is required")
	}
	required, limit, err := readRange(req.GetCapacityRange())
	if err != nil {
		return nil, err
	}
	v, err := c.store.Volume(req.GetVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	if err := checkExpanded(v, req.GetVolumeCapability()); err != nil {
		return nil, err
	}
	if v, err = c.store.ExpandVolume(v.ID, required, limit); err != nil {
		return nil, Answer(err)
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: v.CapacityBytes, NodeExpansionRequired: true}, nil
}

func (c *controller) ValidateVolumeCapabilities(_ context.Context, req *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if len(req.GetVolumeCapabilities()) == 0 {
		return nil, invalid("volume_capabilities is required")
	}
	v, err := c.store.Volume(req.GetVolumeId())
	if err != nil {
		return nil, Answer(err)
	}
	for _, capability := range req.GetVolumeCapabilities() {
		a, err := readAccess(capability)
		if err != nil {
			return nil, err
		}
		if !a.suits(v) {
			return &csi.ValidateVolumeCapabilitiesResponse{Message: "the volume is of the other access type"}, nil
		}
	}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeContext:      req.GetVolumeContext(),
		VolumeCapabilities: req.GetVolumeCapabilities(),
		Parameters:         req.GetParameters(),
		MutableParameters:  req.GetMutableParameters(),
	}}, nil
}

// GetCapacity returns the free space of the backend's file system. It returns nothing if the driver
// cannot create a volume of the requested kind.
func (c *controller) GetCapacity(_ context.Context, req *csi.GetCapacityRequest) (*csi.GetCapacityResponse, error) {
	if len(req.GetVolumeCapabilities()) > 0 {
		if _, err := readAccesses(req.GetVolumeCapabilities()); err != nil {
			return &csi.GetCapacityResponse{}, nil
		}
	}
	for key := range c.cfg.Topology {
		segments := req.GetAccessibleTopology().GetSegments()
		if segments != nil && segments[key] == "" {
			return &csi.GetCapacityResponse{}, nil
		}
	}
	free, err := c.store.FreeBytes()
	if err != nil {
		return nil, Answer(err)
	}
	return &csi.GetCapacityResponse{AvailableCapacity: free}, nil
}

func readSource(s *csi.VolumeContentSource) (backend.Source, error) {
	if s == nil {
		return backend.Source{}, nil
	}
	source := backend.Source{
		VolumeID:   s.GetVolume().GetVolumeId(),
		SnapshotID: s.GetSnapshot().GetSnapshotId(),
	}
	if source == (backend.Source{}) {
		return source, invalid("volume_content_source names neither a volume nor a snapshot")
	}
	return source, nil
}

func readRange(r *csi.CapacityRange) (required, limit int64, err error) {
	required, limit = r.GetRequiredBytes(), r.GetLimitBytes()
	if required < 0 || limit < 0 || (limit > 0 && required > limit) {
		return 0, 0, invalid("capacity_range: required_bytes %d, limit_bytes %d", required, limit)
	}
	return required, limit, nil
}

func describe(v backend.Volume) *csi.Volume {
	volume := &csi.Volume{
		VolumeId:      v.ID,
		CapacityBytes: v.CapacityBytes,
		VolumeContext: map[string]string{"name": v.Name},
	}
	if len(v.Topology) > 0 {
		volume.AccessibleTopology = []*csi.Topology{{Segments: v.Topology}}
	}
	switch {
	case v.Source.VolumeID != "":
		volume.ContentSource = &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
			Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: v.Source.VolumeID},
		}}
	case v.Source.SnapshotID != "":
		volume.ContentSource = &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
			Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: v.Source.SnapshotID},
		}}
	}
	return volume
}
