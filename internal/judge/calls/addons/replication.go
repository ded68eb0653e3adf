package addons

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/trace"
)

// role is the role of a replicated volume; the zero role means that it is unknown.
type role int

const (
	primary role = iota + 1
	secondary
)

// replication checks two invariants. A demoted volume is not written, and only one of the two sides
// of a volume is primary unless force was used.
func (c *Check) replication(call *trace.Event) {
	switch request := call.Request.(type) {
	case *replication.PromoteVolumeRequest:
		for _, v := range c.Members(call, request.GetReplicationSource()) {
			c.promoted(call, v, request.GetForce())
		}
	case *replication.DemoteVolumeRequest:
		for _, v := range c.Members(call, request.GetReplicationSource()) {
			c.replicas[v] = secondary
			delete(c.forced, v)
		}
	case *replication.DisableVolumeReplicationRequest:
		for _, v := range c.Members(call, request.GetReplicationSource()) {
			delete(c.replicas, v)
			delete(c.forced, v)
		}
	case *csi.NodePublishVolumeRequest:
		v := Volume{call.Driver, request.GetVolumeId()}
		if c.replicas[v] == secondary && !request.GetReadonly() && !readsOnly(request.GetVolumeCapability()) {
			c.breach(call, "lets a demoted volume be written", verdict.Say("volume %s was demoted and is published read-write", v.ID))
		}
	}
}

func (c *Check) promoted(call *trace.Event, v Volume, force bool) {
	if c.replicas[v] != primary && !force && !c.forced[v] && c.Other != nil && c.Other.replicas[v] == primary {
		c.breach(call, "makes a second primary", verdict.Say("volume %s is primary in %s, was not demoted there, and force was not asked for", v.ID, c.Other.Cluster))
	}
	c.replicas[v] = primary
	if c.Other != nil && c.Other.replicas[v] == 0 {
		c.Other.replicas[v] = secondary // it is the copy
	}
}

// Members returns the volumes of a call.
func (c *Check) Members(call *trace.Event, source *replication.ReplicationSource) (all []Volume) {
	if id := source.GetVolume().GetVolumeId(); id != "" {
		return []Volume{{call.Driver, id}}
	}
	for _, id := range c.groups[Volume{call.Driver, source.GetVolumegroup().GetVolumeGroupId()}] {
		all = append(all, Volume{call.Driver, id})
	}
	return all
}

func readsOnly(c *csi.VolumeCapability) bool {
	mode := c.GetAccessMode().GetMode()
	return mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY || mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
}
