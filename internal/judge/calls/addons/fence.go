package addons

import (
	"net/netip"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/trace"
)

// client is a node as a client of a driver's storage system.
type client struct{ driver, node string }

// ranges are addresses.
type ranges []netip.Prefix

// fencing checks the invariant that a fenced node gets no volume. The addresses that a plugin
// returns for its client identify its node.
func (c *Check) fencing(call *trace.Event) {
	switch request := call.Request.(type) {
	case *fence.FenceClusterNetworkRequest:
		c.fenced[call.Driver] = append(c.fenced[call.Driver].without(rangesOf(request.GetCidrs())), rangesOf(request.GetCidrs())...)
	case *fence.UnfenceClusterNetworkRequest:
		c.fenced[call.Driver] = c.fenced[call.Driver].without(rangesOf(request.GetCidrs()))
	case *fence.GetFenceClientsRequest:
		answer, _ := call.Response.(*fence.GetFenceClientsResponse)
		var own ranges
		for _, one := range answer.GetClients() {
			own = append(own, rangesOf(one.GetAddresses())...)
		}
		if call.Node != "" {
			c.clients[client{call.Driver, call.Node}] = own
		}
	case *csi.NodeStageVolumeRequest:
		if by, is := c.fenced[call.Driver].overlaps(c.clients[client{call.Driver, call.Node}]); is {
			c.breach(call, "serves a fenced node", verdict.Say("volume %s is staged on %s, which the range %s keeps off the storage", request.GetVolumeId(), call.Node, by))
		}
	}
}

func rangesOf(cidrs []*fence.CIDR) (all ranges) {
	for _, c := range cidrs {
		if r, err := netip.ParsePrefix(c.GetCidr()); err == nil {
			all = append(all, r.Masked())
		}
	}
	return all
}

func (r ranges) without(others ranges) ranges {
	return slices.DeleteFunc(slices.Clone(r), func(one netip.Prefix) bool { return slices.Contains(others, one) })
}

// overlaps returns the range that has an address of a client.
func (r ranges) overlaps(own ranges) (by netip.Prefix, is bool) {
	for _, one := range r {
		if slices.ContainsFunc(own, one.Overlaps) {
			return one, true
		}
	}
	return by, false
}
