package cluster

import (
	"github.com/csisim/csisim/internal/judge/calls/addons"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/trace"
)

// followReplication makes the data check follow volumes that are replicated to another cluster of
// the run.
func (c *Checks) followReplication(call *trace.Event) {
	other := c.Peer()
	if c.Data == nil || other == nil || call.Code != "" {
		return
	}
	switch request := call.Request.(type) {
	case *replication.DemoteVolumeRequest:
		for _, v := range c.replicated(call, request.GetReplicationSource()) {
			c.Data.Demoted(v, call.Seq)
		}
	case *replication.PromoteVolumeRequest:
		for _, v := range c.replicated(call, request.GetReplicationSource()) {
			c.Data.Promoted(v, other.Data)
		}
	case *replication.GetVolumeReplicationInfoRequest:
		answer, _ := call.Response.(*replication.GetVolumeReplicationInfoResponse)
		for _, v := range c.replicated(call, request.GetReplicationSource()) {
			c.Data.Reported(v, answer.GetLastSyncTime().String())
		}
	}
}

// startPromises checks that drivers keep their promises of CSI-Addons.
func (c *Checks) startPromises() {
	c.Promises = addons.New()
	c.Promises.Cluster, c.Promises.OnBreach = c.Name, c.Wire.Report
	if other := c.Peer(); other != nil {
		c.Promises.Other, other.Promises.Other = other.Promises, c.Promises
	}
}

// replicated returns the volumes of a replication call.
func (c *Checks) replicated(call *trace.Event, source *replication.ReplicationSource) (all []data.Volume) {
	for _, v := range c.Promises.Members(call, source) {
		all = append(all, data.Volume{Driver: v.Driver, Handle: v.ID})
	}
	return all
}
