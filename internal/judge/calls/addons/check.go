// Package addons checks that drivers keep the promises of CSI-Addons, across calls and across two
// clusters. The promises concern the writers of a volume, the members of a group, the space that
// may be reclaimed, and the content of messages. Each invariant has its own file.
package addons

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/trace"
)

// Check follows the calls of one cluster.
type Check struct {
	// OnBreach is called for each breach, with the call that shows it.
	OnBreach func(*trace.Event, verdict.Verdict)
	// Other follows the cluster to which volumes are replicated; nil if there is none.
	Other *Check
	// Cluster is the name of this cluster; empty for the only one.
	Cluster string

	replicas map[Volume]role
	forced   map[Volume]bool // perhaps promoted by force: the answer is unknown
	groups   map[Volume][]string
	fenced   map[string]ranges
	clients  map[client]ranges
	deleted  map[Volume]bool
	promised map[client]map[string]bool // capabilities by plugin
	pending  map[uint64][]Volume        // secondaries that a call under way promotes, by its Seq
}

// Volume is a volume or group of a driver.
type Volume struct{ Driver, ID string }

// New returns a check without any observations.
func New() *Check {
	return &Check{
		replicas: map[Volume]role{}, forced: map[Volume]bool{}, groups: map[Volume][]string{},
		fenced: map[string]ranges{}, clients: map[client]ranges{}, deleted: map[Volume]bool{}, promised: map[client]map[string]bool{}, pending: map[uint64][]Volume{},
	}
}

// Began records the start of a call: from now on the call may have had its effect.
func (c *Check) Began(call *trace.Event) {
	switch request := call.Request.(type) {
	case *replication.PromoteVolumeRequest:
		for _, v := range c.Members(call, request.GetReplicationSource()) {
			if c.replicas[v] == secondary {
				c.pending[call.Seq] = append(c.pending[call.Seq], v)
				delete(c.replicas, v)
			}
		}
	case *fence.UnfenceClusterNetworkRequest:
		c.fenced[call.Driver] = c.fenced[call.Driver].without(rangesOf(request.GetCidrs()))
	}
}

// refused are the codes after which a call certainly had no effect.
var refused = []string{"Aborted", "AlreadyExists", "FailedPrecondition", "InvalidArgument", "NotFound", "PermissionDenied", "Unauthenticated", "Unimplemented"}

// Ended records the answer to a call.
func (c *Check) Ended(call *trace.Event) {
	promoted := c.pending[call.Seq]
	delete(c.pending, call.Seq)
	if slices.Contains(refused, call.Code) {
		for _, v := range promoted {
			c.replicas[v] = secondary
		}
	}
	if call.Code != "" {
		c.secrets(call)
		c.serving(call)
		c.doubt(call)
		return
	}
	c.promises(call)
	c.deletion(call)
	c.grouping(call)
	c.replication(call)
	c.fencing(call)
}

// doubt forgets the state that a failed call may have changed.
func (c *Check) doubt(call *trace.Event) {
	if slices.Contains(refused, call.Code) {
		return
	}
	switch request := call.Request.(type) {
	case *replication.PromoteVolumeRequest:
		for _, v := range c.Members(call, request.GetReplicationSource()) {
			c.forced[v] = c.forced[v] || request.GetForce()
		}
	case *replication.DemoteVolumeRequest:
		for _, v := range c.Members(call, request.GetReplicationSource()) {
			delete(c.replicas, v)
		}
	case *volumegroup.ModifyVolumeGroupMembershipRequest:
		delete(c.groups, Volume{call.Driver, request.GetVolumeGroupId()})
	}
}

// Wrote checks a pod's write to a volume on a node. Demoted volumes must not be written, and fenced
// nodes must not write.
func (c *Check) Wrote(pod, driver, id, node string) {
	shown := trace.Entry{Driver: driver, Node: node, Method: "Node/NodePublishVolume"}.Event()
	if c.replicas[Volume{driver, id}] == secondary {
		c.breach(shown, "lets a demoted volume be written", verdict.Say("pod %s wrote to volume %s, which was demoted", pod, id))
	}
	if by, is := c.fenced[driver].overlaps(c.clients[client{driver, node}]); is {
		c.breach(shown, "serves a fenced node", verdict.Say("pod %s wrote to volume %s on %s, which the range %s keeps off the storage", pod, id, node, by))
	}
}

// breach reports the breach that a call shows.
func (c *Check) breach(call *trace.Event, form verdict.Form, detail verdict.Sentence) {
	v := contract.Broken(call.Method, form, detail)
	v.Breaks = verdict.Addons
	c.OnBreach(call, v)
}
