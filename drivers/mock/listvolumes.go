package mock

import (
	"context"
	"math"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/internal/judge/contract"
)

// ListVolumes: CSI "ListVolumes", oldest volume first.
func (s *Controller) ListVolumes(_ context.Context, req *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	d := s.driver
	if !d.options.ListVolumes {
		return nil, notImplemented("ListVolumes")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	volumes, next, err := page(d.volumesInOrder(), func(v *volume) int { return v.serial }, d.volumeSerial,
		d.maxEntries(req.GetMaxEntries()), req.GetStartingToken())
	if err != nil {
		return nil, err
	}
	resp := &csi.ListVolumesResponse{NextToken: next}
	for _, v := range volumes {
		entry := &csi.ListVolumesResponse_Entry{Volume: v.message()}
		if d.options.ListVolumesPublishedNodes || d.options.VolumeCondition {
			entry.Status = &csi.ListVolumesResponse_VolumeStatus{}
			d.fillStatus(v, entry.Status, &entry.Status.PublishedNodeIds)
		}
		resp.Entries = append(resp.Entries, entry)
	}
	if d.faults[listRepeatsVolume] && len(resp.Entries) > 0 {
		resp.Entries = append(resp.Entries, resp.Entries[0])
	}
	if d.faults[listNeverEnds] && next == "" && d.volumeSerial > 0 {
		resp.NextToken = "1"
	}
	return resp, nil
}

func (d *Driver) fillStatus(v *volume, status proto.Message, nodes *[]string) {
	if d.options.ListVolumesPublishedNodes {
		*nodes = v.nodeIDs()
	}
	d.fillCondition(v, status)
}

// fillCondition sets the volume condition in answers of CSI up to 1.12.
func (d *Driver) fillCondition(v *volume, m proto.Message) {
	if !d.options.VolumeCondition {
		return
	}
	condition := contract.VolumeCondition{Message: or(d.options.HealthyMessage, "The volume is healthy")}
	if v.adverse != nil {
		condition = contract.VolumeCondition{Abnormal: true, Message: v.adverse.Message}
	}
	condition.Put(m)
}

func (d *Driver) maxEntries(asked int32) int32 {
	if d.faults[listIgnoresMaxEntries] && asked > 0 {
		return 0
	}
	return asked
}

// page returns a page of a list in order of serial numbers. A token is the serial number of the
// previous page's last entry. A token that was never returned is answered with ABORTED, as the spec
// requires.
func page[T any](all []T, serial func(T) int, highest int, maxEntries int32, token string) (entries []T, next string, err error) {
	if maxEntries < 0 {
		return nil, "", invalid("max_entries must not be negative")
	}
	last := 0
	if token != "" {
		if last, err = strconv.Atoi(token); err != nil || last < 1 || last > highest {
			return nil, "", status.Errorf(codes.Aborted, "starting_token %q is not valid", token)
		}
	}
	for _, entry := range all {
		if serial(entry) <= last {
			continue
		}
		if maxEntries > 0 && len(entries) == int(maxEntries) {
			return entries, strconv.Itoa(serial(entries[len(entries)-1])), nil
		}
		entries = append(entries, entry)
	}
	return entries, "", nil
}

// ControllerGetVolume: CSI "ControllerGetVolume".
func (s *Controller) ControllerGetVolume(_ context.Context, req *csi.ControllerGetVolumeRequest) (*csi.ControllerGetVolumeResponse, error) {
	d := s.driver
	if !d.options.GetVolume {
		return nil, notImplemented("ControllerGetVolume")
	}
	if err := required("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[req.GetVolumeId()]
	if v == nil {
		return nil, noVolume(req.GetVolumeId())
	}
	resp := &csi.ControllerGetVolumeResponse{Volume: v.message(), Status: &csi.ControllerGetVolumeResponse_VolumeStatus{}}
	d.fillStatus(v, resp.Status, &resp.Status.PublishedNodeIds)
	return resp, nil
}

// GetCapacity: CSI "GetCapacity". An unlimited pool has the largest possible number of bytes.
func (s *Controller) GetCapacity(_ context.Context, req *csi.GetCapacityRequest) (*csi.GetCapacityResponse, error) {
	d := s.driver
	if !d.options.GetCapacity || d.faults[promisesTooMuch] {
		return nil, notImplemented("GetCapacity")
	}
	for _, c := range req.GetVolumeCapabilities() {
		if err := d.capability(c); err != nil {
			return nil, err
		}
	}
	if len(req.GetAccessibleTopology().GetSegments()) > 0 && !d.options.Topology {
		return nil, invalid("accessible_topology needs the capability VOLUME_ACCESSIBILITY_CONSTRAINTS")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := &csi.GetCapacityResponse{MinimumVolumeSize: bound(d.options.MinimumVolumeBytes), MaximumVolumeSize: bound(d.options.MaximumVolumeBytes)}
	switch {
	case req.GetAccessibleTopology() != nil && !d.someNodeIn(req.GetAccessibleTopology()):
	case d.options.CapacityBytes == 0:
		answer.AvailableCapacity = math.MaxInt64
	default:
		answer.AvailableCapacity = max(0, d.options.CapacityBytes-d.usedBytes)
	}
	return answer, nil
}

// bound returns a limit on the size of a volume; nil for 0.
func bound(bytes int64) *wrapperspb.Int64Value {
	if bytes == 0 {
		return nil
	}
	return wrapperspb.Int64(bytes)
}
