package calls

import (
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// singleWriter checks a volume that has been attached.
func (w *Watch) singleWriter(call *trace.Event, v *state, r *csi.ControllerPublishVolumeRequest) {
	switch r.GetVolumeCapability().GetAccessMode().GetMode() {
	case csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER:
	default:
		return
	}
	for _, other := range slices.Sorted(maps.Keys(v.attached)) {
		if other != r.GetNodeId() && v.attached[other] == surely {
			w.OnBreach(call, contract.Broken(call.Method, contract.AttachesTwice, verdict.Say(
				"volume %s is attached to node %s and was not detached from node %s", r.GetVolumeId(), verdict.Quoted(r.GetNodeId()), verdict.Quoted(other))))
			return
		}
	}
}

// IsElsewhere reports whether previous calls attached, or may have attached, a single-node volume
// to another node than the one in the call. The driver has to reject the call. CSI spec:
// ControllerPublishVolume, FAILED_PRECONDITION
func (w *Watch) IsElsewhere(call *trace.Event) bool {
	r, is := call.Request.(*csi.ControllerPublishVolumeRequest)
	if !is || contract.MayBeOnManyNodes(r.GetVolumeCapability()) {
		return false
	}
	for id := range w.of(call.Driver, r.GetVolumeId()).attached { // any order: one is enough
		if id != r.GetNodeId() {
			return true
		}
	}
	return false
}
