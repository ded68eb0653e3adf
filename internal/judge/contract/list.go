package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

func (f *findings) listResponse(req, resp proto.Message, caps Caps) {
	switch r := resp.(type) {
	case *csi.ListVolumesResponse:
		q, _ := req.(*csi.ListVolumesRequest)
		f.listedVolumes(q, r, caps)
	case *csi.ListSnapshotsResponse:
		q, _ := req.(*csi.ListSnapshotsRequest)
		f.listedSnapshots(q, r, caps)
	case *csi.ControllerListVolumeHealthResponse:
		q, _ := req.(*csi.ControllerListVolumeHealthRequest)
		var ids []string
		for _, h := range r.GetEntries() {
			f.health("entries", h)
			ids = append(ids, h.GetVolumeId())
		}
		f.page(ids, q.GetMaxEntries())
	case *csi.ControllerGetVolumeResponse:
		q, _ := req.(*csi.ControllerGetVolumeRequest)
		f.gotVolume(q, r, caps)
	case *csi.ControllerGetVolumeHealthResponse:
		f.gotHealth(r.GetVolumeHealth())
	}
}

// page checks the rule that all calls with max_entries share.
func (f *findings) page(ids []string, maxEntries int32) {
	if maxEntries > 0 && len(ids) > int(maxEntries) {
		f.add("entries", "the CSI spec allows no more than max_entries", "has %d entries, asked for were %d", len(ids), maxEntries)
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if id != "" && seen[id] {
			f.add("entries", "an id is unique within the plugin", "has %s twice", id)
		}
		seen[id] = true
	}
}

// CSI "ListVolumes".
func (f *findings) listedVolumes(req *csi.ListVolumesRequest, r *csi.ListVolumesResponse, caps Caps) {
	var ids []string
	for _, e := range r.GetEntries() {
		f.required("entries.volume", e.GetVolume() != nil)
		if e.GetVolume() != nil {
			f.volume("entries.volume", e.GetVolume(), caps)
		}
		if caps.Controller.Has("LIST_VOLUMES_PUBLISHED_NODES") {
			f.required("entries.status", e.GetStatus() != nil)
		}
		f.condition("entries.status.volume_condition", e.GetStatus(), caps.Controller)
		ids = append(ids, e.GetVolume().GetVolumeId())
	}
	f.page(ids, req.GetMaxEntries())
}

// CSI "ControllerGetVolume".
func (f *findings) gotVolume(req *csi.ControllerGetVolumeRequest, r *csi.ControllerGetVolumeResponse, caps Caps) {
	f.required("volume", r.GetVolume() != nil)
	f.required("status", r.GetStatus() != nil)
	if r.GetVolume() == nil {
		return
	}
	f.volume("volume", r.GetVolume(), caps)
	f.same("volume.volume_id", r.GetVolume().GetVolumeId(), req.GetVolumeId())
	f.condition("status.volume_condition", r.GetStatus(), caps.Controller)
}

// same checks that the answer is about the requested object.
func (f *findings) same(field, got, asked string) {
	if got != "" && asked != "" && got != asked {
		f.add(field, "the answer must be about what was asked for", "is %s, asked for was %s", got, asked)
	}
}

// condition: the volume condition of CSI up to 1.12.
func (f *findings) condition(field string, m proto.Message, declared Set) {
	c, ok := ConditionOf(m)
	if !ok {
		return
	}
	f.promised(field, true, declared, volumeCondition)
	if c.Abnormal {
		f.required(field+".message", c.Message != "")
	}
}

func (f *findings) gotHealth(h *csi.VolumeHealth) {
	f.required("volume_health", h != nil)
	if h != nil {
		f.health("volume_health", h)
	}
}

// health: CSI "ControllerListVolumeHealth", message VolumeHealth.
func (f *findings) health(field string, h *csi.VolumeHealth) {
	f.required(field+".volume_id", h.GetVolumeId() != "")
	seen := map[string]bool{}
	for _, e := range h.GetHealthStatuses() {
		f.required(field+".health_statuses.status", e.GetStatus() != csi.VolumeHealthErrorType_UNKNOWN_VOLUME_HEALTH_TYPE)
		f.required(field+".health_statuses.reason", e.GetReason() != "")
		key := e.GetStatus().String() + " " + e.GetReason()
		if seen[key] {
			f.add(field+".health_statuses", "the CSI spec wants each status and reason once", "has %s twice", key)
		}
		seen[key] = true
	}
}
