package sim

import (
	"github.com/csisim/csisim/internal/judge/calls/addons"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/trace"
)

// followReplication has the data check follow volumes that are replicated to another
// cluster of the run.
func (c *Simulation) followReplication(call *trace.Event) {
	other := c.peer()
	if c.data == nil || other == nil || call.Code != "" {
		return
	}
	switch request := call.Request.(type) {
	case *replication.DemoteVolumeRequest:
		for _, v := range c.replicated(call, request.GetReplicationSource()) {
			c.data.Demoted(v, call.Seq)
		}
	case *replication.PromoteVolumeRequest:
		for _, v := range c.replicated(call, request.GetReplicationSource()) {
			c.data.Promoted(v, other.data)
		}
	case *replication.GetVolumeReplicationInfoRequest:
		answer, _ := call.Response.(*replication.GetVolumeReplicationInfoResponse)
		for _, v := range c.replicated(call, request.GetReplicationSource()) {
			c.data.Reported(v, answer.GetLastSyncTime().String())
		}
	}
}

// startPromises checks that drivers keep their promises of CSI-Addons.
func (c *Simulation) startPromises() {
	c.promises = addons.New()
	c.promises.Cluster, c.promises.OnBreach = c.cluster, c.Wire.Report
	if other := c.peer(); other != nil {
		c.promises.Other, other.promises.Other = other.promises, c.promises
	}
}

// peer is the other cluster of the run; nil if there is none.
func (c *Simulation) peer() *Simulation {
	for _, other := range c.run.clusters {
		if other != c {
			return other
		}
	}
	return nil
}

// replicated are the volumes that a call of replication is about.
func (c *Simulation) replicated(call *trace.Event, source *replication.ReplicationSource) (all []data.Volume) {
	for _, v := range c.promises.Members(call, source) {
		all = append(all, data.Volume{Driver: v.Driver, Handle: v.ID})
	}
	return all
}
