package mock

import (
	"context"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/ordered"
)

// createdBy marks a volume context that the driver has returned, so that a trace shows its origin.
const createdBy = "from-driver"

// CreateVolume: CSI "CreateVolume".
func (s *Controller) CreateVolume(_ context.Context, req *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	d := s.driver
	if !d.options.createDeleteVolume() {
		return nil, notImplemented("CreateVolume")
	}
	if err := d.checkCreate(req); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumeNames[req.GetName()]
	again := d.faults[createNotIdempotent] || d.faults[cloneNotIdempotent] && req.GetVolumeContentSource() != nil
	if v != nil && !again {
		if field := v.differsFrom(req); field != "" && (d.options.strict() || field == "capacity_range") {
			return nil, status.Errorf(codes.AlreadyExists, "volume %s exists as %s with another %s", req.GetName(), v.id, field)
		}
	} else {
		var err error
		if v, err = d.create(req); err != nil {
			return nil, err
		}
	}
	return &csi.CreateVolumeResponse{Volume: d.created(v)}, nil
}

func (d *Driver) created(v *volume) *csi.Volume {
	m := v.message()
	if d.faults[createReturnsNoID] {
		m.VolumeId = ""
	}
	if d.faults[wrongCapacity] {
		m.CapacityBytes /= 2
	}
	if d.faults[createDropsSource] {
		m.ContentSource = nil
	}
	return m
}

func (d *Driver) checkCreate(req *csi.CreateVolumeRequest) error {
	if err := first(
		suggestedName(req.GetName()),
		d.capabilities(req.GetVolumeCapabilities()),
		capacityRange(req.GetCapacityRange()),
	); err != nil {
		return err
	}
	if req.GetAccessibilityRequirements() != nil && !d.options.Topology {
		return invalid("accessibility_requirements needs the capability VOLUME_ACCESSIBILITY_CONSTRAINTS")
	}
	if len(req.GetMutableParameters()) > 0 {
		if !d.options.ModifyVolume {
			return invalid("mutable_parameters needs the capability MODIFY_VOLUME")
		}
		return d.mutableParameters(req.GetMutableParameters())
	}
	return nil
}

// differsFrom names the first field in which a request differs from the existing volume with that
// name.
func (v *volume) differsFrom(req *csi.CreateVolumeRequest) string {
	switch {
	case !inRange(v.bytes, req.GetCapacityRange()):
		return "capacity_range"
	case !v.supportsAll(req.GetVolumeCapabilities()):
		return "volume_capabilities"
	case !maps.Equal(v.parameters.Go(), req.GetParameters()):
		return "parameters"
	case !containsAll(v.mutable, req.GetMutableParameters()):
		return "mutable_parameters"
	case !proto.Equal(v.source, req.GetVolumeContentSource()):
		return "volume_content_source"
	case !v.accessibleFrom(req.GetAccessibilityRequirements()):
		return "accessibility_requirements"
	}
	return ""
}

func containsAll(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}

func (d *Driver) create(req *csi.CreateVolumeRequest) (*volume, error) {
	source, err := d.sourceBytes(req.GetVolumeContentSource())
	if err != nil {
		return nil, err
	}
	bytes, err := d.sizeFor(req.GetCapacityRange(), source)
	if err != nil {
		return nil, err
	}
	topology, err := d.place(req.GetAccessibilityRequirements())
	if err != nil {
		return nil, err
	}
	v := &volume{
		name:       req.GetName(),
		bytes:      bytes,
		parameters: ordered.Of(req.GetParameters()),
		mutable:    maps.Clone(req.GetMutableParameters()),
		topology:   topology,
	}
	if !d.options.NoVolumeContext {
		v.context = ordered.Of(req.GetParameters())
	}
	if d.options.marks() && !d.options.NoVolumeContext {
		v.context.Set(createdBy, "create-volume")
	}
	for _, c := range req.GetVolumeCapabilities() {
		v.capabilities = append(v.capabilities, d.alike(c))
	}
	if req.GetVolumeContentSource() != nil {
		v.source = proto.CloneOf(req.GetVolumeContentSource())
	}
	d.insertVolume(v)
	return v, d.fillFrom(req.GetVolumeContentSource(), v.id)
}

// sourceBytes returns the size of the snapshot or volume from which a new volume is created; 0 if
// there is none.
func (d *Driver) sourceBytes(source *csi.VolumeContentSource) (int64, error) {
	switch {
	case source == nil:
		return 0, nil
	case source.GetSnapshot() != nil:
		if !d.options.Snapshot {
			return 0, invalid("a volume from a snapshot needs the capability CREATE_DELETE_SNAPSHOT")
		}
		snap := d.snapshots[source.GetSnapshot().GetSnapshotId()]
		if snap == nil {
			return 0, status.Errorf(codes.NotFound, "source snapshot %q does not exist", source.GetSnapshot().GetSnapshotId())
		}
		if snap.pollsLeft > 0 {
			return 0, status.Errorf(codes.FailedPrecondition, "source snapshot %s is not ready to use", snap.id)
		}
		return snap.bytes, nil
	case source.GetVolume() != nil:
		if !d.options.Clone {
			return 0, invalid("a volume from a volume needs the capability CLONE_VOLUME")
		}
		v := d.volumes[source.GetVolume().GetVolumeId()]
		if v == nil {
			return 0, status.Errorf(codes.NotFound, "source volume %q does not exist", source.GetVolume().GetVolumeId())
		}
		return v.bytes, nil
	}
	return 0, invalid("volume_content_source: snapshot or volume is required")
}

// sizeFor returns the size in bytes of a new volume: the required size, otherwise the source's
// size, otherwise 1 GiB or the limit.
func (d *Driver) sizeFor(r *csi.CapacityRange, source int64) (int64, error) {
	bytes := r.GetRequiredBytes()
	if bytes == 0 {
		bytes = source
	}
	if bytes == 0 {
		bytes = defaultVolumeBytes
		if limit := r.GetLimitBytes(); limit > 0 {
			bytes = min(bytes, limit)
		}
	}
	bytes = max(bytes, d.options.MinimumVolumeBytes)
	if limit := d.options.MaximumVolumeBytes; limit > 0 && bytes > limit {
		return 0, status.Errorf(codes.OutOfRange, "%d bytes are more than a volume can have, %d bytes", bytes, limit)
	}
	if limit := r.GetLimitBytes(); limit > 0 && limit < d.options.MinimumVolumeBytes {
		return 0, status.Errorf(codes.OutOfRange, "limit_bytes %d is less than a volume has at least, %d bytes", limit, d.options.MinimumVolumeBytes)
	}
	if bytes < source || !inRange(bytes, r) {
		return 0, status.Errorf(codes.OutOfRange, "the source has %d bytes, which do not fit into capacity_range", source)
	}
	if err := d.fits(bytes, 0); err != nil {
		return 0, err
	}
	return bytes, nil
}

// fits reports whether the pool has room for a volume with the new size; the volume already uses
// the given bytes.
func (d *Driver) fits(bytes, has int64) error {
	pool := d.options.CapacityBytes
	if pool == 0 {
		return nil
	}
	if bytes > pool {
		return status.Errorf(codes.OutOfRange, "%d bytes are more than the whole pool of %d bytes", bytes, pool)
	}
	if free := pool - d.usedBytes + has; bytes > free {
		return status.Errorf(codes.ResourceExhausted, "%d bytes asked for, %d bytes free", bytes, free)
	}
	return nil
}

// DeleteVolume: CSI "DeleteVolume". Snapshots of the volume are kept.
func (s *Controller) DeleteVolume(_ context.Context, req *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	d := s.driver
	if !d.options.createDeleteVolume() {
		return nil, notImplemented("DeleteVolume")
	}
	if err := required("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[req.GetVolumeId()]
	switch {
	case v == nil && d.faults[deleteNotIdempotent]:
		return nil, noVolume(req.GetVolumeId())
	case v == nil || d.faults[deleteLeaks]:
		return &csi.DeleteVolumeResponse{}, nil
	}
	if nodes := d.usersOf(v); len(nodes) > 0 && !d.faults[deleteWhilePublished] {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is in use on %v", v.id, nodes)
	}
	d.removeVolume(v)
	return &csi.DeleteVolumeResponse{}, nil
}

// usersOf lists the nodes that use a volume, in the view of a storage system: nodes with an
// attachment or, without attaching, nodes with a staging or publication.
func (d *Driver) usersOf(v *volume) []string {
	if d.options.attach() {
		return v.nodeIDs()
	}
	var nodes []string
	for _, id := range slices.Sorted(maps.Keys(d.nodes)) {
		n := d.nodes[id]
		if len(mountsOf(n.staged, v.id))+len(mountsOf(n.published, v.id)) > 0 {
			nodes = append(nodes, id)
		}
	}
	return nodes
}
