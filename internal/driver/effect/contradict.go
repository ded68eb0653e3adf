package effect

import (
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/contract"
)

// contradictFields are the fields of faults that contradict a call.
type contradictFields struct {
	Contradict bool `json:"contradict,omitempty" doc:"Right after its OK the driver gets a call that it must reject. Such a call attaches a single-node volume to a second node; creates a volume of the same name that is larger, smaller or without its source; takes a snapshot of the same name from another volume; or publishes a single-writer volume at a second path. For CreateVolume, CreateSnapshot, ControllerPublishVolume and NodePublishVolume."`
}

// contradict sends the driver, after an OK answer, a call that is incompatible with the first call.
// The driver must reject it.
var contradict = &Effect{
	Name:  fault.Contradict,
	Field: "contradict",
	Given: func(f *Fields) bool { return f.Contradict },
	Check: func(f *Fields, call string, c Checker) {
		if f.Contradict && calls.IsMethod(call) && !calls.MayBe(call, fault.CanBeContradicted) {
			c.Report("call", "contradict of "+call, "CreateVolume, CreateSnapshot, ControllerPublishVolume, NodePublishVolume or *")
		}
	},
	Affects: fault.CanBeContradicted,
	InWords: words("what cannot be granted beside the call before"),
	Doubles: true,
	Do:      doContradict,
}

// contradiction is a request that is incompatible with another request, and its meaning in words.
type contradiction struct {
	request proto.Message
	words   string
	subject string // after one is granted, others with the same subject are skipped
	remark  bool   // csi-sanity and Kubernetes do not require the refusal
}

func doContradict(c Call, f *fault.Fault) error {
	if err := c.Pass(c.Answer()); err != nil {
		return err
	}
	granted := map[string]bool{}
	for _, other := range contradictionsOf(c) {
		if granted[other.subject] {
			continue
		}
		again := c.Again(f, other.request)
		err := again.Make()
		if err == nil && isAnother(c, f, again) {
			continue
		}
		granted[other.subject] = err == nil
		breaches := contract.CheckContradiction(c.Method(), err, other.words)
		for i := range breaches {
			breaches[i].Remark = other.remark
		}
		c.Note(c.Seen(breaches, "a call that contradicts it is refused"))
		if published, ok := other.request.(*csi.NodePublishVolumeRequest); ok && err == nil {
			takeBack(c, f, published)
		}
	}
	return nil
}

// isAnother reports whether the driver has taken another snapshot, and deletes that snapshot. In
// some drivers the id of a snapshot contains the id of its volume.
func isAnother(c Call, f *fault.Fault, again Further) bool {
	first, ok := c.Answer().(*csi.CreateSnapshotResponse)
	if !ok {
		return false
	}
	id := again.Answer().(*csi.CreateSnapshotResponse).GetSnapshot().GetSnapshotId()
	if id == first.GetSnapshot().GetSnapshotId() {
		return false
	}
	_ = c.Other(f, csi.Controller_DeleteSnapshot_FullMethodName, &csi.DeleteSnapshotRequest{SnapshotId: id}, &csi.DeleteSnapshotResponse{}).Make()
	return true
}

// takeBack unpublishes a volume that the driver should not have published, because no other
// component knows about it.
func takeBack(c Call, f *fault.Fault, published *csi.NodePublishVolumeRequest) {
	request := &csi.NodeUnpublishVolumeRequest{VolumeId: published.GetVolumeId(), TargetPath: published.GetTargetPath()}
	_ = c.Other(f, csi.Node_NodeUnpublishVolume_FullMethodName, request, &csi.NodeUnpublishVolumeResponse{}).Make()
}

func contradictionsOf(c Call) []contradiction {
	switch r := c.Request().(type) {
	case *csi.ControllerPublishVolumeRequest:
		other := c.OtherNode(r.GetNodeId())
		if other == "" || contract.MayBeOnManyNodes(r.GetVolumeCapability()) {
			return nil
		}
		there := proto.CloneOf(r)
		there.NodeId = other
		return []contradiction{{there, fmt.Sprintf("a single-node volume attached to %s, then also to %s", r.GetNodeId(), other), "node", false}}
	case *csi.NodePublishVolumeRequest:
		if r.GetVolumeCapability().GetAccessMode().GetMode() != csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER {
			return nil
		}
		again := proto.CloneOf(r)
		again.TargetPath += "-again"
		return []contradiction{{again, fmt.Sprintf("a volume for a single writer published at %s, then also at %s", r.GetTargetPath(), again.GetTargetPath()), "path", false}}
	case *csi.CreateSnapshotRequest:
		other := c.OtherVolume(r.GetSourceVolumeId())
		if other == "" {
			return nil
		}
		of := proto.CloneOf(r)
		of.SourceVolumeId = other
		return []contradiction{{of, fmt.Sprintf("a snapshot of volume %s cut, then asked for by the same name of volume %s", r.GetSourceVolumeId(), other), "source", false}}
	case *csi.CreateVolumeRequest:
		return otherVolumes(r, c.Answer().(*csi.CreateVolumeResponse).GetVolume().GetCapacityBytes())
	}
	return nil
}

// otherVolumes returns requests with the name of a created volume that are incompatible with that
// volume. CSI "CreateVolume": a volume that is incompatible with capacity_range or
// volume_content_source.
func otherVolumes(r *csi.CreateVolumeRequest, made int64) (all []contradiction) {
	sized := func(capacity *csi.CapacityRange, remark bool, asked string) {
		other := proto.CloneOf(r)
		other.CapacityRange = capacity
		all = append(all, contradiction{other, fmt.Sprintf("a volume of %d bytes made, then asked for by the same name with %s", made, asked), "size", remark})
	}
	if made > 1 { // otherwise the size is unknown
		sized(&csi.CapacityRange{RequiredBytes: 2 * made}, false, fmt.Sprint(2*made))
		sized(&csi.CapacityRange{RequiredBytes: 1, LimitBytes: made - 1}, true, fmt.Sprintf("at most %d", made-1))
	}
	if r.GetVolumeContentSource() != nil {
		other := proto.CloneOf(r)
		other.VolumeContentSource = nil
		all = append(all, contradiction{other, "a copy made, then asked for by the same name without its source", "source", true})
	}
	return all
}
