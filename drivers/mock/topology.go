package mock

import (
	"maps"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// place selects the topology of a new volume: the first preferred topology that a node has,
// otherwise the first requisite one (CSI "CreateVolume", message TopologyRequirement). Without a
// requirement the volume can be used everywhere.
func (d *Driver) place(want *csi.TopologyRequirement) ([]*csi.Topology, error) {
	if want == nil {
		return nil, nil
	}
	if len(want.GetPreferred())+len(want.GetRequisite()) == 0 {
		return nil, invalid("accessibility_requirements: requisite or preferred is required")
	}
	for _, terms := range [][]*csi.Topology{want.GetPreferred(), want.GetRequisite()} {
		for _, t := range terms {
			if d.someNodeIn(t) {
				return []*csi.Topology{proto.CloneOf(t)}, nil
			}
		}
	}
	return nil, status.Error(codes.ResourceExhausted, "no node of this driver is in the topology asked for")
}

func (d *Driver) someNodeIn(t *csi.Topology) bool {
	for _, n := range d.nodes {
		if containsAll(n.segments, t.GetSegments()) {
			return true
		}
	}
	return false
}

// accessibleFrom reports whether the volume can be used in at least one requisite topology.
func (v *volume) accessibleFrom(want *csi.TopologyRequirement) bool {
	if len(v.topology) == 0 || len(want.GetRequisite()) == 0 {
		return true
	}
	for _, have := range v.topology {
		for _, t := range want.GetRequisite() {
			if maps.Equal(have.GetSegments(), t.GetSegments()) {
				return true
			}
		}
	}
	return false
}

func (v *volume) accessibleOn(n *nodeState) bool {
	for _, t := range v.topology {
		if containsAll(n.segments, t.GetSegments()) {
			return true
		}
	}
	return len(v.topology) == 0
}
