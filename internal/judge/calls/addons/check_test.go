package addons

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/trace"
)

// pair are the checks of two clusters.
type pair struct {
	west, east *Check
	got        []string
}

func newPair() *pair {
	p := &pair{west: New(), east: New()}
	p.west.Cluster, p.east.Cluster, p.west.Other, p.east.Other = "west", "east", p.east, p.west
	for _, c := range []*Check{p.west, p.east} {
		c.OnBreach = func(_ *trace.Event, v verdict.Verdict) { p.got = append(p.got, string(v.Form)) }
	}
	return p
}

// ended is a successful call. A node call is on node-a.
func ended(c *Check, request, response proto.Message) { failed(c, "", request, response) }

// failed is a call that ended with a code.
func failed(c *Check, code string, request, response proto.Message) {
	call := trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Code: code, Request: request, Response: response}.Event()
	c.Began(call)
	c.Ended(call)
}

// unserved makes the driver promise a capability and answer Unimplemented to a method.
func unserved(c *Check, promised *identity.Capability, method string) {
	ended(c, &identity.GetCapabilitiesRequest{}, &identity.GetCapabilitiesResponse{Capabilities: []*identity.Capability{promised}})
	c.Ended(trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: method, Code: "Unimplemented"}.Event())
}

func source(id string) *replication.ReplicationSource {
	return &replication.ReplicationSource{Type: &replication.ReplicationSource_Volume{Volume: &replication.ReplicationSource_VolumeSource{VolumeId: id}}}
}

func promote(c *Check, force bool) {
	ended(c, &replication.PromoteVolumeRequest{ReplicationSource: source("v"), Force: force}, nil)
}

func demote(c *Check) {
	ended(c, &replication.DemoteVolumeRequest{ReplicationSource: source("v")}, nil)
}

func publish(c *Check, readOnly bool) {
	ended(c, &csi.NodePublishVolumeRequest{VolumeId: "v", Readonly: readOnly}, &csi.NodePublishVolumeResponse{})
}

func cidrs(all ...string) (list []*fence.CIDR) {
	for _, text := range all {
		list = append(list, &fence.CIDR{Cidr: text})
	}
	return list
}

// fenced gives the check the node's address, and fences a range.
func fenced(c *Check, cidr string) {
	ended(c, &fence.GetFenceClientsRequest{}, &fence.GetFenceClientsResponse{Clients: []*fence.ClientDetails{{Id: "a", Addresses: cidrs("10.0.0.1/32")}}})
	ended(c, &fence.FenceClusterNetworkRequest{Cidrs: cidrs(cidr)}, &fence.FenceClusterNetworkResponse{})
}

func stage(c *Check) {
	ended(c, &csi.NodeStageVolumeRequest{VolumeId: "v"}, &csi.NodeStageVolumeResponse{})
}

func group(ids ...string) *volumegroup.VolumeGroup {
	g := &volumegroup.VolumeGroup{VolumeGroupId: "g"}
	for _, id := range ids {
		g.Volumes = append(g.Volumes, &csi.Volume{VolumeId: id})
	}
	return g
}

func TestTheCapabilitiesThatDriversPromise(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*pair)
		want string // the broken rule; empty if there is none
	}{
		{"a second primary", func(p *pair) { promote(p.west, false); promote(p.east, false) }, "makes a second primary"},
		{"a second primary, by force", func(p *pair) { promote(p.west, false); promote(p.east, true) }, ""},
		{"a second primary, by force with a lost answer, and then without", func(p *pair) {
			promote(p.west, false)
			failed(p.east, "Unavailable", &replication.PromoteVolumeRequest{ReplicationSource: source("v"), Force: true}, nil)
			promote(p.east, false)
		}, ""},
		{"a second primary, by force that is refused, and then without", func(p *pair) {
			promote(p.west, false)
			failed(p.east, "FailedPrecondition", &replication.PromoteVolumeRequest{ReplicationSource: source("v"), Force: true}, nil)
			promote(p.east, false)
		}, "makes a second primary"},
		{"a second primary, after one by force was demoted", func(p *pair) {
			promote(p.west, false)
			failed(p.east, "Unavailable", &replication.PromoteVolumeRequest{ReplicationSource: source("v"), Force: true}, nil)
			demote(p.east)
			promote(p.east, false)
		}, "makes a second primary"},
		{"primary after the other side was demoted", func(p *pair) { promote(p.west, false); demote(p.west); promote(p.east, false) }, ""},
		{"primary again", func(p *pair) { promote(p.west, false); promote(p.west, false) }, ""},
		{"a demoted volume that is published", func(p *pair) { promote(p.west, false); demote(p.west); publish(p.west, false) }, "lets a demoted volume be written"},
		{"a demoted volume that is published read-only", func(p *pair) { demote(p.west); publish(p.west, true) }, ""},
		{"a copy that is published", func(p *pair) { promote(p.west, false); publish(p.east, false) }, "lets a demoted volume be written"},
		{"a primary that is published", func(p *pair) { demote(p.west); promote(p.west, false); publish(p.west, false) }, ""},
		{"a demoted volume that a pod goes on to write", func(p *pair) { demote(p.west); p.west.Wrote("default/p", "d", "v", "node-a") }, "lets a demoted volume be written"},
		{"a promotion with a lost answer", func(p *pair) {
			demote(p.west)
			failed(p.west, "Unavailable", &replication.PromoteVolumeRequest{ReplicationSource: source("v")}, nil)
			publish(p.west, false)
		}, ""},
		{"a promotion that is refused", func(p *pair) {
			demote(p.west)
			failed(p.west, "Aborted", &replication.PromoteVolumeRequest{ReplicationSource: source("v")}, nil)
			publish(p.west, false)
		}, "lets a demoted volume be written"},
		{"a node that may not be fenced any more", func(p *pair) {
			fenced(p.west, "10.0.0.0/24")
			failed(p.west, "DeadlineExceeded", &fence.UnfenceClusterNetworkRequest{Cidrs: cidrs("10.0.0.0/24")}, nil)
			stage(p.west)
		}, ""},
		{"a fenced node that stages", func(p *pair) { fenced(p.west, "10.0.0.0/24"); stage(p.west) }, "serves a fenced node"},
		{"a fenced node that writes", func(p *pair) { fenced(p.west, "10.0.0.1/32"); p.west.Wrote("default/p", "d", "v", "node-a") }, "serves a fenced node"},
		{"a node beside the fence", func(p *pair) { fenced(p.west, "10.0.1.0/24"); stage(p.west) }, ""},
		{"a node that is unfenced", func(p *pair) {
			fenced(p.west, "10.0.0.0/24")
			ended(p.west, &fence.UnfenceClusterNetworkRequest{Cidrs: cidrs("10.0.0.0/24")}, &fence.UnfenceClusterNetworkResponse{})
			stage(p.west)
		}, ""},
		{"a group that lacks a member", func(p *pair) {
			ended(p.west, &volumegroup.CreateVolumeGroupRequest{Name: "n", VolumeIds: []string{"v", "w"}}, &volumegroup.CreateVolumeGroupResponse{VolumeGroup: group("w")})
		}, "answers a group with other members"},
		{"a group that has its members in another order", func(p *pair) {
			ended(p.west, &volumegroup.CreateVolumeGroupRequest{Name: "n", VolumeIds: []string{"v", "w"}}, &volumegroup.CreateVolumeGroupResponse{VolumeGroup: group("w", "v")})
		}, ""},
		{"a group that forgets a member", func(p *pair) {
			ended(p.west, &volumegroup.CreateVolumeGroupRequest{Name: "n", VolumeIds: []string{"v"}}, &volumegroup.CreateVolumeGroupResponse{VolumeGroup: group("v")})
			ended(p.west, &volumegroup.ControllerGetVolumeGroupRequest{VolumeGroupId: "g"}, &volumegroup.ControllerGetVolumeGroupResponse{VolumeGroup: group()})
		}, "answers a group with other members"},
		{"a group that forgets a member after a change that is refused", func(p *pair) {
			ended(p.west, &volumegroup.CreateVolumeGroupRequest{Name: "n", VolumeIds: []string{"v"}}, &volumegroup.CreateVolumeGroupResponse{VolumeGroup: group("v")})
			failed(p.west, "InvalidArgument", &volumegroup.ModifyVolumeGroupMembershipRequest{VolumeGroupId: "g", VolumeIds: []string{"w"}}, nil)
			ended(p.west, &volumegroup.ControllerGetVolumeGroupRequest{VolumeGroupId: "g"}, &volumegroup.ControllerGetVolumeGroupResponse{VolumeGroup: group()})
		}, "answers a group with other members"},
		{"a group that may have been changed", func(p *pair) {
			ended(p.west, &volumegroup.CreateVolumeGroupRequest{Name: "n", VolumeIds: []string{"v"}}, &volumegroup.CreateVolumeGroupResponse{VolumeGroup: group("v")})
			failed(p.west, "Unavailable", &volumegroup.ModifyVolumeGroupMembershipRequest{VolumeGroupId: "g", VolumeIds: []string{"w"}}, nil)
			ended(p.west, &volumegroup.ControllerGetVolumeGroupRequest{VolumeGroupId: "g"}, &volumegroup.ControllerGetVolumeGroupResponse{VolumeGroup: group("w")})
		}, ""},
		{"space of a deleted volume", func(p *pair) {
			ended(p.west, &csi.DeleteVolumeRequest{VolumeId: "v"}, &csi.DeleteVolumeResponse{})
			ended(p.west, &reclaimspace.ControllerReclaimSpaceRequest{VolumeId: "v"}, &reclaimspace.ControllerReclaimSpaceResponse{})
		}, "reclaims space of a deleted volume"},
		{"space of a volume that was made again", func(p *pair) {
			ended(p.west, &csi.DeleteVolumeRequest{VolumeId: "v"}, &csi.DeleteVolumeResponse{})
			ended(p.west, &csi.CreateVolumeRequest{Name: "n"}, &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "v"}})
			ended(p.west, &reclaimspace.ControllerReclaimSpaceRequest{VolumeId: "v"}, &reclaimspace.ControllerReclaimSpaceResponse{})
		}, ""},
		{"a message with a secret", func(p *pair) {
			request := &fence.FenceClusterNetworkRequest{Secrets: map[string]string{"password": "correct-horse"}}
			p.west.Ended(trace.Entry{Code: "Internal", Message: trace.RedactText("login with correct-horse fails", request), Request: request}.Event())
		}, "shows a secret"},
		{"a message without one", func(p *pair) {
			request := &fence.FenceClusterNetworkRequest{Secrets: map[string]string{"password": "correct-horse", "user": "fails"}}
			p.west.Ended(trace.Entry{Code: "Internal", Message: trace.RedactText("login fails", request), Request: request}.Event())
		}, ""},
		{"a capability that is not served", func(p *pair) {
			unserved(p.west, capability.Named("network_fence.NETWORK_FENCE"), "/fence.FenceController/FenceClusterNetwork")
		}, "is promised and not served"},
		{"a capability that says nothing", func(p *pair) { unserved(p.west, &identity.Capability{}, "/csi.v1.Controller/ControllerGetVolume") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair()
			c.do(p)
			if c.want == "" {
				assert.Empty(t, p.got)
				return
			}
			assert.Equal(t, []string{c.want}, p.got)
		})
	}
}
