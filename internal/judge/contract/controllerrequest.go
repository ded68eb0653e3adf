package contract

import (
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

func (f *findings) controllerRequest(req proto.Message, caps Caps) {
	switch r := req.(type) {
	case *csi.CreateVolumeRequest:
		f.createRequest(r, caps)
	case *csi.DeleteVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
	case *csi.ControllerPublishVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.required("node_id", r.GetNodeId() != "")
		f.capability("volume_capability", r.GetVolumeCapability(), caps.Controller)
		f.promised("readonly", r.GetReadonly(), caps.Controller, "PUBLISH_READONLY")
	case *csi.ControllerUnpublishVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
	case *csi.ValidateVolumeCapabilitiesRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.capabilities(r.GetVolumeCapabilities(), caps.Controller)
	case *csi.ListVolumesRequest:
		f.notNegative("max_entries", int64(r.GetMaxEntries()))
	case *csi.ListSnapshotsRequest:
		f.notNegative("max_entries", int64(r.GetMaxEntries()))
	case *csi.ControllerListVolumeHealthRequest:
		f.notNegative("max_entries", int64(r.GetMaxEntries()))
	case *csi.ControllerGetVolumeHealthRequest:
		f.required("volume_id", r.GetVolumeId() != "")
	case *csi.ControllerGetVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
	case *csi.ControllerModifyVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.required("mutable_parameters", len(r.GetMutableParameters()) > 0)
	case *csi.GetCapacityRequest:
		// Without topology csi-provisioner sets an empty one, which requests nothing. C-PROV-92
		f.promised("accessible_topology", len(r.GetAccessibleTopology().GetSegments()) > 0, caps.Plugin, "VOLUME_ACCESSIBILITY_CONSTRAINTS")
	case *csi.CreateSnapshotRequest:
		f.required("source_volume_id", r.GetSourceVolumeId() != "")
		f.suggestedName(r.GetName())
		f.promised("accessibility_requirements", r.GetAccessibilityRequirements() != nil, caps.Plugin, "SNAPSHOT_ACCESSIBILITY_CONSTRAINTS")
	case *csi.DeleteSnapshotRequest:
		f.required("snapshot_id", r.GetSnapshotId() != "")
	case *csi.GetSnapshotRequest:
		f.required("snapshot_id", r.GetSnapshotId() != "")
	case *csi.ControllerExpandVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.required("capacity_range", r.GetCapacityRange() != nil)
		f.capacityRange(r.GetCapacityRange())
		if r.GetVolumeCapability() != nil {
			f.capability("volume_capability", r.GetVolumeCapability(), caps.Controller)
		}
	}
}

// CSI "CreateVolume".
func (f *findings) createRequest(r *csi.CreateVolumeRequest, caps Caps) {
	f.suggestedName(r.GetName())
	f.capabilities(r.GetVolumeCapabilities(), caps.Controller)
	f.capacityRange(r.GetCapacityRange())
	source := r.GetVolumeContentSource()
	f.promised("volume_content_source", source.GetSnapshot() != nil, caps.Controller, "CREATE_DELETE_SNAPSHOT")
	f.promised("volume_content_source", source.GetVolume() != nil, caps.Controller, "CLONE_VOLUME")
	if source != nil {
		f.required("volume_content_source", source.GetSnapshot().GetSnapshotId() != "" || source.GetVolume().GetVolumeId() != "")
	}
	f.promised("mutable_parameters", len(r.GetMutableParameters()) > 0, caps.Controller, "MODIFY_VOLUME")
	if t := r.GetAccessibilityRequirements(); t != nil {
		f.promised("accessibility_requirements", true, caps.Plugin, "VOLUME_ACCESSIBILITY_CONSTRAINTS")
		f.required("accessibility_requirements", len(t.GetRequisite())+len(t.GetPreferred()) > 0)
		for _, p := range t.GetPreferred() {
			if len(t.GetRequisite()) > 0 && !containsTopology(t.GetRequisite(), p) {
				f.add("accessibility_requirements.preferred", "the CSI spec wants it among the requisite topologies", "has %v besides", p.GetSegments())
			}
		}
	}
}

func containsTopology(list []*csi.Topology, t *csi.Topology) bool {
	for _, have := range list {
		if proto.Equal(have, t) {
			return true
		}
	}
	return false
}

const noControl = "the CSI spec bans control characters"

// suggestedName: the field name of CreateVolume and CreateSnapshot.
func (f *findings) suggestedName(name string) {
	f.required("name", name != "")
	if strings.ContainsFunc(name, bannedInName) {
		f.add("name", noControl, "is %q", name)
		return
	}
	f.keep("name", noControl)
}

func bannedInName(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	}
	return r < 0x20 || r >= 0x7f && r <= 0x9f
}

// capacityRange: CSI "CreateVolume", message CapacityRange.
func (f *findings) capacityRange(r *csi.CapacityRange) {
	if r == nil {
		return
	}
	f.notNegative("capacity_range.required_bytes", r.GetRequiredBytes())
	f.notNegative("capacity_range.limit_bytes", r.GetLimitBytes())
	f.required("capacity_range", r.GetRequiredBytes() != 0 || r.GetLimitBytes() != 0)
	if limit := r.GetLimitBytes(); limit > 0 && r.GetRequiredBytes() > limit {
		f.add("capacity_range", "no size is in the range", "requires %d, limits to %d", r.GetRequiredBytes(), limit)
	}
}

func (f *findings) capabilities(list []*csi.VolumeCapability, declared Set) {
	f.required("volume_capabilities", len(list) > 0)
	for _, c := range list {
		f.capability("volume_capabilities", c, declared)
	}
}

// capability: CSI "CreateVolume", message VolumeCapability.
func (f *findings) capability(field string, c *csi.VolumeCapability, declared Set) {
	f.required(field, c != nil)
	if c == nil {
		return
	}
	mode := c.GetAccessMode().GetMode()
	f.required(field+".access_mode", mode != csi.VolumeCapability_AccessMode_UNKNOWN)
	f.required(field+".access_type", c.GetBlock() != nil || c.GetMount() != nil)
	saysHowManyWriters := mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER ||
		mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
	f.promised(field+".access_mode", saysHowManyWriters, declared, "SINGLE_NODE_MULTI_WRITER")
}
