package wire

import (
	"fmt"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
)

// sendAndContradict gives the call to the driver and, after its OK, one that
// contradicts it, which the driver has to refuse.
func (c *call) sendAndContradict(f *fault.Fault) error {
	if err := c.pass(c.process, c.answer); err != nil {
		return err
	}
	request, contradiction := c.contradiction()
	if request == nil {
		return nil
	}
	second := c.again(f, request)
	err := second.whileCallerLives(func() error { return second.pass(c.process, second.answer) })
	second.end(err)
	c.wire.note(c, c.seen(contract.CheckContradiction(c.method, err, contradiction), "a call that contradicts it is refused"))
	if published, ok := request.(*csi.NodePublishVolumeRequest); ok && err == nil {
		c.takeBack(f, published)
	}
	return nil
}

// takeBack unpublishes a volume that the driver should not have published: no other component is
// aware of it.
func (c *call) takeBack(f *fault.Fault, published *csi.NodePublishVolumeRequest) {
	request := &csi.NodeUnpublishVolumeRequest{VolumeId: published.GetVolumeId(), TargetPath: published.GetTargetPath()}
	inverse := *c
	inverse.fullMethod, inverse.method = csi.Node_NodeUnpublishVolume_FullMethodName, "Node/NodeUnpublishVolume"
	inverse.answer = &csi.NodeUnpublishVolumeResponse{}
	undo := inverse.again(f, request)
	undo.end(undo.pass(c.process, undo.answer))
}

// contradiction returns a request that cannot be granted beside this one, and its meaning in words;
// nil if there is none.
func (c *call) contradiction() (proto.Message, string) {
	switch r := proto.Clone(c.request).(type) {
	case *csi.ControllerPublishVolumeRequest:
		other := c.otherNode(r.GetNodeId())
		if other == "" || contract.MayBeOnManyNodes(r.GetVolumeCapability()) {
			return nil, ""
		}
		was := r.GetNodeId()
		r.NodeId = other
		return r, fmt.Sprintf("a single-node volume attached to %s, then also to %s", was, other)
	case *csi.NodePublishVolumeRequest:
		if r.GetVolumeCapability().GetAccessMode().GetMode() != csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER {
			return nil, ""
		}
		was := r.GetTargetPath()
		r.TargetPath += "-again"
		return r, fmt.Sprintf("a volume for a single writer published at %s, then also at %s", was, r.GetTargetPath())
	case *csi.CreateVolumeRequest:
		made := c.answer.(*csi.CreateVolumeResponse).GetVolume().GetCapacityBytes()
		if made <= 0 {
			return nil, "" // the driver does not say
		}
		r.CapacityRange = &csi.CapacityRange{RequiredBytes: 2 * made}
		return r, fmt.Sprintf("a volume of %d bytes made, then asked for by the same name with %d", made, 2*made)
	}
	return nil, ""
}

// otherNode is the id of another node of the driver; empty if there is none.
func (c *call) otherNode(id string) string {
	nodes := c.wire.nodeIDs[c.site.Driver]
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if nodes[name] != id {
			return nodes[name]
		}
	}
	return ""
}

// learnNode keeps the ids that nodes give themselves.
func (w *Wire) learnNode(c *call) {
	info, ok := c.answer.(*csi.NodeGetInfoResponse)
	if !ok {
		return
	}
	if w.nodeIDs[c.site.Driver] == nil {
		w.nodeIDs[c.site.Driver] = map[string]string{}
	}
	w.nodeIDs[c.site.Driver][c.site.Node] = info.GetNodeId()
}
