package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

func (f *findings) nodeResponse(req, resp proto.Message, caps Caps) {
	switch r := resp.(type) {
	case *csi.NodeGetCapabilitiesResponse:
		learnt := caps
		learnt.Node = nodeNames(r)
		f.pluginPromises(learnt)
	case *csi.NodeGetInfoResponse:
		f.nodeInfo(r, caps)
	case *csi.NodeGetVolumeStatsResponse:
		f.stats(r, caps)
	case *csi.NodeExpandVolumeResponse:
		q, _ := req.(*csi.NodeExpandVolumeRequest)
		f.notNegative("capacity_bytes", r.GetCapacityBytes())
		if r.GetCapacityBytes() > 0 { // optional
			f.within("capacity_bytes", r.GetCapacityBytes(), q.GetCapacityRange())
		}
	case *csi.NodeGetVolumeHealthResponse:
		f.gotHealth(r.GetVolumeHealth())
	case *csi.NodeGetStorageHealthResponse:
		f.storageHealth(r)
	}
}

// CSI "NodeGetInfo".
func (f *findings) nodeInfo(r *csi.NodeGetInfoResponse, caps Caps) {
	f.required("node_id", r.GetNodeId() != "")
	f.notNegative("max_volumes_per_node", r.GetMaxVolumesPerNode())
	if r.GetAccessibleTopology() != nil {
		f.promised("accessible_topology", true, caps.Plugin, "VOLUME_ACCESSIBILITY_CONSTRAINTS")
		f.topology("accessible_topology", r.GetAccessibleTopology())
	}
}

// CSI "NodeGetVolumeStats". In the spec the usage is optional, but without it the kubelet counts
// the call as failed. Up to CSI 1.12 a driver could answer only with a condition.
func (f *findings) stats(r *csi.NodeGetVolumeStatsResponse, caps Caps) {
	if _, hasCondition := ConditionOf(r); !hasCondition {
		f.usagePresent(r)
	}
	f.condition("volume_condition", r, caps.Node)
	seen := map[csi.VolumeUsage_Unit]bool{}
	for _, u := range r.GetUsage() {
		unit := u.GetUnit()
		if _, known := csi.VolumeUsage_Unit_name[int32(unit)]; !known || unit == csi.VolumeUsage_UNKNOWN {
			f.add("usage.unit", RequiresIt, "is %s", unit)
		}
		if seen[unit] {
			f.add("usage.unit", "a unit is reported once", "is %s twice", unit)
		}
		seen[unit] = true
		f.notNegative("usage.available", u.GetAvailable())
		f.notNegative("usage.total", u.GetTotal())
		f.notNegative("usage.used", u.GetUsed())
	}
}

func (f *findings) usagePresent(r *csi.NodeGetVolumeStatsResponse) {
	if len(r.GetUsage()) == 0 {
		f.add("usage", "the kubelet needs it, though the CSI spec calls it optional", "is empty")
	}
}

// CSI "NodeGetStorageHealth".
func (f *findings) storageHealth(r *csi.NodeGetStorageHealthResponse) {
	for _, b := range r.GetBackendHealth() {
		f.required("backend_health.status", b.GetStatus() != csi.StorageHealthErrorType_UNKNOWN_STORAGE_HEALTH_ERROR_TYPE)
		f.required("backend_health.reason", b.GetReason() != "")
	}
}
