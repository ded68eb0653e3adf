package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/csisim/csisim/internal/judge/verdict"
	"google.golang.org/protobuf/proto"
)

func (f *findings) controllerResponse(req, resp proto.Message, caps Caps) {
	switch r := resp.(type) {
	case *csi.ControllerGetCapabilitiesResponse:
		f.controllerPromises(controllerNames(r), caps)
	case *csi.CreateVolumeResponse:
		q, _ := req.(*csi.CreateVolumeRequest)
		f.createdVolume(q, r.GetVolume(), caps)
	case *csi.ValidateVolumeCapabilitiesResponse:
		q, _ := req.(*csi.ValidateVolumeCapabilitiesRequest)
		f.confirmed(q, r.GetConfirmed())
	case *csi.ControllerExpandVolumeResponse:
		q, _ := req.(*csi.ControllerExpandVolumeRequest)
		f.expanded(q, r, caps)
	case *csi.GetCapacityResponse:
		f.notNegative("available_capacity", r.GetAvailableCapacity())
		f.notNegative("maximum_volume_size", r.GetMaximumVolumeSize().GetValue())
		f.notNegative("minimum_volume_size", r.GetMinimumVolumeSize().GetValue())
	}
}

// controllerPromises: CSI "ControllerGetCapabilities": capabilities that require others.
func (f *findings) controllerPromises(have Set, caps Caps) {
	for _, promise := range []struct{ with, needs string }{
		{"LIST_VOLUMES_PUBLISHED_NODES", "PUBLISH_UNPUBLISH_VOLUME"},
		{"PUBLISH_READONLY", "PUBLISH_UNPUBLISH_VOLUME"},
		{"LIST_VOLUME_HEALTH", "GET_VOLUME_HEALTH"},
	} {
		if have.Has(promise.with) && !have.Has(promise.needs) {
			f.add("capabilities", promise.with+" means nothing without "+promise.needs, "lacks %s", promise.needs)
		}
	}
	if have.Has("LIST_VOLUMES_PUBLISHED_NODES") && !have.Has("LIST_VOLUMES") && !have.Has("GET_VOLUME") {
		f.add("capabilities", "LIST_VOLUMES_PUBLISHED_NODES means nothing without LIST_VOLUMES or GET_VOLUME", "lacks both")
	}
	if caps.Plugin.lacks("CONTROLLER_SERVICE") && len(have) > 0 {
		f.add("capabilities", "the CSI spec has the Controller service only with the capability CONTROLLER_SERVICE", "is answered")
	}
	learnt := caps
	learnt.Controller = have
	f.pluginPromises(learnt)
}

// createdVolume: CSI "CreateVolume".
func (f *findings) createdVolume(req *csi.CreateVolumeRequest, v *csi.Volume, caps Caps) {
	f.required("volume", v != nil)
	if v == nil {
		return
	}
	f.volume("volume", v, caps)
	// A capacity of 0 means that the driver does not know it.
	if v.GetCapacityBytes() > 0 {
		f.within("volume.capacity_bytes", v.GetCapacityBytes(), req.GetCapacityRange())
	}
	const sameSource = "the CSI spec wants the source of the request"
	switch want := req.GetVolumeContentSource(); {
	case want != nil && !proto.Equal(want, v.GetContentSource()):
		f.add("volume.content_source", sameSource, "is %v, asked for was %v", verdict.Quoted(sourceName(v.GetContentSource())), verdict.Quoted(sourceName(want)))
	case want != nil:
		f.keep("volume.content_source", sameSource)
	}
	if req != nil && req.GetVolumeContentSource() == nil && v.GetContentSource() != nil {
		f.add("volume.content_source", "an empty volume was asked for", "is %v", sourceName(v.GetContentSource()))
	}
	if requisite := req.GetAccessibilityRequirements().GetRequisite(); len(requisite) > 0 && len(v.GetAccessibleTopology()) > 0 &&
		!anyTopology(v.GetAccessibleTopology(), requisite) {
		f.add("volume.accessible_topology", "the CSI spec wants at least one requisite topology", "has none of them")
	}
}

func sourceName(s *csi.VolumeContentSource) string {
	switch {
	case s.GetSnapshot() != nil:
		return "snapshot " + s.GetSnapshot().GetSnapshotId()
	case s.GetVolume() != nil:
		return "volume " + s.GetVolume().GetVolumeId()
	}
	return "nothing"
}

// anyTopology: some topology of the volume is compatible with some requisite one. It may be more
// specific (a zone within the requested region) or less specific (the region of all requested
// zones).
func anyTopology(have, want []*csi.Topology) bool {
	for _, h := range have {
		for _, w := range want {
			if agree(h.GetSegments(), w.GetSegments()) {
				return true
			}
		}
	}
	return false
}

func agree(a, b map[string]string) bool {
	for key, value := range a {
		if other, both := b[key]; both && other != value {
			return false
		}
	}
	return true
}

// volume checks the message Volume in any answer.
func (f *findings) volume(field string, v *csi.Volume, caps Caps) {
	f.required(field+".volume_id", v.GetVolumeId() != "")
	f.notNegative(field+".capacity_bytes", v.GetCapacityBytes())
	f.promised(field+".accessible_topology", len(v.GetAccessibleTopology()) > 0, caps.Plugin, "VOLUME_ACCESSIBILITY_CONSTRAINTS")
	for _, t := range v.GetAccessibleTopology() {
		f.topology(field+".accessible_topology", t)
	}
}

// within checks a size in bytes against the requested range.
func (f *findings) within(field string, bytes int64, r *csi.CapacityRange) {
	const atLeast, atMost = "the CSI spec wants at least required_bytes", "the CSI spec wants at most limit_bytes"
	switch required := r.GetRequiredBytes(); {
	case bytes < required:
		f.add(field, atLeast, "is %d, required were %d", bytes, required)
	case required > 0:
		f.keep(field, atLeast)
	}
	switch limit := r.GetLimitBytes(); {
	case limit > 0 && bytes > limit:
		f.add(field, atMost, "is %d, the limit was %d", bytes, limit)
	case limit > 0:
		f.keep(field, atMost)
	}
}

// confirmed: CSI "ValidateVolumeCapabilities". The confirmed capabilities are exactly the requested
// ones.
func (f *findings) confirmed(req *csi.ValidateVolumeCapabilitiesRequest, c *csi.ValidateVolumeCapabilitiesResponse_Confirmed) {
	if c == nil {
		return
	}
	f.required("confirmed.volume_capabilities", len(c.GetVolumeCapabilities()) > 0)
	for _, want := range req.GetVolumeCapabilities() {
		if !containsCapability(c.GetVolumeCapabilities(), want) {
			f.add("confirmed.volume_capabilities", "the CSI spec confirms all or nothing", "lacks %s", want.GetAccessMode().GetMode())
		}
	}
}

func containsCapability(list []*csi.VolumeCapability, want *csi.VolumeCapability) bool {
	for _, c := range list {
		if proto.Equal(c, want) {
			return true
		}
	}
	return false
}

// expanded: CSI "ControllerExpandVolume".
func (f *findings) expanded(req *csi.ControllerExpandVolumeRequest, r *csi.ControllerExpandVolumeResponse, caps Caps) {
	f.required("capacity_bytes", r.GetCapacityBytes() != 0)
	f.notNegative("capacity_bytes", r.GetCapacityBytes())
	if r.GetCapacityBytes() > 0 {
		f.within("capacity_bytes", r.GetCapacityBytes(), req.GetCapacityRange())
	}
	f.promised("node_expansion_required", r.GetNodeExpansionRequired(), caps.Node, "EXPAND_VOLUME")
}
