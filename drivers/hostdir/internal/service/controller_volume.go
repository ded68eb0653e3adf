//go:build linux

package service

import (
	"context"
	"errors"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
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
	create := c.store.CreateVolume
	if c.cfg.Broken.Has(broken.CreateNotIdempotent) {
		create = c.store.CreateAnotherVolume
	}
	if c.cfg.Broken.Has(broken.SnapshotRestoresEmpty) && source.SnapshotID != "" {
		source = backend.Source{}
	}
	if source != (backend.Source{}) && c.cfg.Broken.Has(broken.CopyTrustsDirectory) {
		create = c.copyAside
	}
	if c.cfg.Broken.Has(broken.CreateLeavesDirectory) {
		create = func(spec backend.VolumeSpec) (v backend.Volume, err error) {
			return v, broken.PrepareIn(c.store.Dir(), func() error { v, err = c.store.CreateVolume(spec); return err })
		}
	}
	if c.cfg.Broken.Has(broken.SizesCompared) {
		if old, err := c.store.Volume(backend.VolumeID(req.GetName())); err == nil && old.CapacityBytes != required {
			return nil, status.Errorf(codes.AlreadyExists, "volume %s has %d bytes, not %d", old.ID, old.CapacityBytes, required)
		}
		required = broken.RoundUp(required)
	}
	if source.VolumeID != "" && c.cfg.Broken.Has(broken.CloneRemembered) {
		source = c.firstCopy(source, backend.VolumeID(req.GetName()))
	}
	v, err := create(backend.VolumeSpec{
		Name: req.GetName(), RequiredBytes: required, LimitBytes: limit,
		Block: block, Source: source, Parameters: req.GetParameters(), Topology: topology,
		Accessible: func(t map[string]string) bool { return accessible(t, req.GetAccessibilityRequirements()) },
	})
	if err != nil {
		return nil, answer(err)
	}
	if c.cfg.Broken.Has(broken.CopyStaysSmall) && block && source != (backend.Source{}) {
		err = c.store.Shrink(v)
	}
	if err != nil {
		return nil, answer(err)
	}
	if c.cfg.Broken.Has(broken.RestoreConsumes) && source.SnapshotID != "" {
		err = c.store.WipeSnapshot(source.SnapshotID)
	}
	if err != nil {
		return nil, answer(err)
	}
	volume := describe(v)
	volume.ContentSource = req.GetVolumeContentSource()
	if c.cfg.Broken.Has(broken.SecretInVolumeContext) {
		volume.VolumeContext = broken.ShowSecrets(volume.VolumeContext, req.GetSecrets())
	}
	return &csi.CreateVolumeResponse{Volume: volume}, nil
}

// firstCopy returns the source for broken.CloneRemembered: an earlier copy of the same volume.
func (c *controller) firstCopy(of backend.Source, id string) backend.Source {
	all, _ := c.store.Volumes()
	for _, v := range all {
		if v.Source == of && v.ID != id {
			return backend.Source{VolumeID: v.ID}
		}
	}
	return of
}

// copyAside creates an empty volume and copies into it outside the call, which is answered with
// ABORTED meanwhile. If the driver is killed during the copy, the partial volume is taken for
// complete.
func (c *controller) copyAside(spec backend.VolumeSpec) (backend.Volume, error) {
	c.copying.Lock()
	defer c.copying.Unlock()
	v, err := c.store.Volume(backend.VolumeID(spec.Name))
	if err == nil && c.copies[v.ID] {
		return v, status.Errorf(codes.Aborted, "volume %s is being copied", v.ID)
	}
	if err == nil {
		return v, nil
	}
	empty := spec
	empty.Source = backend.Source{}
	if v, err = c.store.CreateVolume(empty); err != nil {
		return v, err
	}
	c.copies[v.ID] = true
	time.AfterFunc(copyTime, func() {
		c.copying.Lock()
		defer c.copying.Unlock()
		if c.store.DeleteVolume(v.ID) == nil {
			_, _ = c.store.CreateVolume(spec) // a repeated call returns the error
		}
		delete(c.copies, v.ID)
	})
	return v, status.Errorf(codes.Aborted, "volume %s is being copied", v.ID)
}

// copyTime is how long copyAside waits before it copies.
const copyTime = 300 * time.Millisecond

func (c *controller) DeleteVolume(_ context.Context, req *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if c.cfg.Broken.Has(broken.DeleteLeavesVolume) {
		return &csi.DeleteVolumeResponse{}, nil
	}
	if c.cfg.Broken.Has(broken.DeleteTakesSnapshots) {
		if err := c.deleteSnapshotsOf(req.GetVolumeId()); err != nil {
			return nil, answer(err)
		}
	}
	if c.cfg.Broken.Has(broken.DeleteWipesCopies) {
		if err := c.store.WipeCopies(req.GetVolumeId()); err != nil {
			return nil, answer(err)
		}
	}
	if err := c.deleteMore(req.GetVolumeId()); err != nil {
		return nil, answer(err)
	}
	if err := c.store.DeleteVolume(req.GetVolumeId()); err != nil {
		return nil, answer(err)
	}
	return &csi.DeleteVolumeResponse{}, nil
}

// deleteMore applies the defects that damage a volume, or its source, before the volume is deleted.
func (c *controller) deleteMore(id string) error {
	v, err := c.store.Volume(id)
	if errors.Is(err, backend.ErrNotFound) || len(v.Attachments) > 0 {
		return nil
	}
	if c.cfg.Broken.Has(broken.DeleteTakesOrigin) && v.Source.VolumeID != "" {
		if origin, gone := c.store.Volume(v.Source.VolumeID); gone == nil {
			err = errors.Join(err, c.store.Wipe(origin))
		}
	}
	if c.cfg.Broken.Has(broken.DeleteTakesOwnSnapshot) && v.Source.SnapshotID != "" {
		err = errors.Join(err, c.store.DeleteSnapshot(v.Source.SnapshotID))
	}
	if c.cfg.Broken.Has(broken.DeleteForgetsFirst) {
		err = errors.Join(err, c.store.DeleteInParts(v))
	}
	return err
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
		return nil, answer(err)
	}
	if err := checkExpanded(v, req.GetVolumeCapability()); err != nil {
		return nil, err
	}
	if c.cfg.Broken.Has(broken.ExpandForgetsSize) {
		return &csi.ControllerExpandVolumeResponse{CapacityBytes: max(required, v.CapacityBytes), NodeExpansionRequired: true}, nil
	}
	expand := c.store.ExpandVolume
	if c.cfg.Broken.Has(broken.ExpandRecordsFirst) {
		expand = c.store.RecordAndExpandVolume
	}
	if _, again := c.grown.LoadOrStore(v.ID, true); again && required > v.CapacityBytes && c.cfg.Broken.Has(broken.ExpandOnce) {
		return nil, status.Errorf(codes.OutOfRange, "volume %s has grown already", v.ID)
	}
	if v, err = expand(v.ID, required, limit); err != nil {
		return nil, answer(err)
	}
	return &csi.ControllerExpandVolumeResponse{
		CapacityBytes: v.CapacityBytes, NodeExpansionRequired: !c.cfg.Broken.Has(broken.ExpandSkipsNode),
	}, nil
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
		return nil, answer(err)
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

// GetCapacity returns the free space of the backend's file system, or nothing if a volume of the
// requested kind is impossible.
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
		return nil, answer(err)
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
