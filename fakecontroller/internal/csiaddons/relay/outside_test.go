package relay_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/bearer"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/kernel"
)

// loopback is the network of a machine. Its callers send a token, a valid one by default.
type loopback struct {
	token string
	at    map[int]string // the address of a sidecar's port on the machine
}

func (l *loopback) Serve(port int, secured bool, register func(grpc.ServiceRegistrar)) (func(), error) {
	var isGood func(string) (bool, error)
	if secured {
		isGood = func(token string) (bool, error) { return token == "good", nil }
	}
	at, stop, err := bearer.Serve(0, isGood, register)
	if err == nil {
		l.at[port] = at.String()
	}
	return stop, err
}

func (l *loopback) Dial(address string, secured bool) (relay.Connection, error) {
	var token func() (string, error)
	if secured {
		token = func() (string, error) { return l.token, nil }
	}
	return bearer.Dial(new(net.Dialer).DialContext, l.at[int(netip.MustParseAddrPort(address).Port())], token)
}

func (*loopback) Left(context.Context) time.Duration { return time.Hour }

// asked is a sidecar that records its requests, and answers like a driver.
type asked struct{ by []string }

func (a *asked) note(format string, args ...any) { a.by = append(a.by, fmt.Sprintf(format, args...)) }

func (a *asked) GetIdentity(relay.Call) (*identity.GetIdentityResponse, error) {
	return &identity.GetIdentityResponse{Name: "disk.example.com"}, nil
}

func (a *asked) Probe(relay.Call) (*identity.ProbeResponse, error) {
	return &identity.ProbeResponse{}, nil
}

func (a *asked) GetCapabilities(relay.Call) ([]*identity.Capability, error) {
	return []*identity.Capability{{Type: &identity.Capability_Service_{Service: &identity.Capability_Service{Type: identity.Capability_Service_NODE_SERVICE}}}}, nil
}

func (a *asked) ControllerReclaimSpace(_ relay.Call, volume string) (relay.Usage, error) {
	a.note("reclaim %s", volume)
	return relay.Usage{Before: &reclaimspace.StorageConsumption{UsageBytes: 9}, After: &reclaimspace.StorageConsumption{UsageBytes: 4}}, nil
}

func (a *asked) NodeReclaimSpace(_ relay.Call, volume string) (relay.Usage, error) {
	a.note("reclaim on the node %s", volume)
	return relay.Usage{}, nil
}

func (a *asked) RotateKey(_ relay.Call, volume string) error {
	a.note("rotate %s", volume)
	return status.Error(codes.Aborted, "it is busy")
}

func (a *asked) Fence(_ relay.Call, f relay.Fence) error {
	a.note("fence %+v", f)
	return nil
}

func (a *asked) FenceClients(_ relay.Call, parameters map[string]string, s relay.Secret) ([]*fence.ClientDetails, error) {
	a.note("clients %v %v", parameters, s)
	return []*fence.ClientDetails{{Id: "c", Addresses: []*fence.CIDR{{Cidr: "10.0.0.1/32"}, {Cidr: "10.0.0.2/32"}}}}, nil
}

func (a *asked) Replicate(_ relay.Call, r relay.Replication) (proto.Message, error) {
	a.note("%s id=%q force=%t %v %v %s", r.Operation, r.ID, r.Force, r.Parameters, r.Secret, r.Source.GetVolume().GetVolumeId()+r.Source.GetVolumegroup().GetVolumeGroupId())
	switch r.Operation {
	case relay.Resync:
		return &replication.ResyncVolumeResponse{Ready: true}, nil
	case relay.Info:
		return &replication.GetVolumeReplicationInfoResponse{
			LastSyncTime: &timestamppb.Timestamp{Seconds: 7}, LastSyncDuration: &durationpb.Duration{Seconds: 2}, LastSyncBytes: 4096,
			Status: replication.GetVolumeReplicationInfoResponse_HEALTHY, StatusMessage: "well",
		}, nil
	case relay.Destination:
		return &replication.GetReplicationDestinationInfoResponse{ReplicationDestination: &replication.ReplicationDestination{
			Type: &replication.ReplicationDestination_Volumegroup{Volumegroup: &replication.ReplicationDestination_VolumeGroupDestination{
				VolumeGroupId: "there", VolumeIds: map[string]string{"v": "w"},
			}},
		}}, nil
	}
	return nil, status.Error(codes.FailedPrecondition, "it is primary elsewhere")
}

func (a *asked) CreateGroup(_ relay.Call, name string, g relay.Group) (*volumegroup.VolumeGroup, error) {
	a.note("create group %s %+v", name, g)
	return group(), nil
}

func (a *asked) ModifyGroup(_ relay.Call, g relay.Group) (*volumegroup.VolumeGroup, error) {
	a.note("modify group %+v", g)
	return group(), nil
}

func (a *asked) DeleteGroup(_ relay.Call, g relay.Group) error {
	a.note("delete group %+v", g)
	return nil
}

func (a *asked) GetGroup(relay.Call, relay.Group) (*volumegroup.VolumeGroup, error) {
	return group(), nil
}

func group() *volumegroup.VolumeGroup {
	return &volumegroup.VolumeGroup{VolumeGroupId: "g", VolumeGroupContext: map[string]string{"pool": "p"}, Volumes: []*csi.Volume{{VolumeId: "v"}}}
}

// manager makes requests like the controller manager and records the answers.
func manager(to relay.Asked, c relay.Call) (answers []string) {
	note := func(answer any, err error) {
		if err != nil {
			answer = fmt.Sprintf("%s: %s", status.Code(err), status.Convert(err).Message())
		}
		answers = append(answers, fmt.Sprint(answer))
	}
	capabilities, err := to.GetCapabilities(c)
	note(capabilities[0].GetService().GetType(), err)
	usage, err := to.ControllerReclaimSpace(c, "pv-1")
	note(fmt.Sprint(usage.Before.GetUsageBytes(), " to ", usage.After.GetUsageBytes()), err)
	usage, err = to.NodeReclaimSpace(c, "pv-1")
	note(usage.Before == nil && usage.After == nil, err)
	note("", to.RotateKey(c, "pv-1"))
	note("fenced", to.Fence(c, relay.Fence{Parameters: map[string]string{"a": "b"}, Secret: relay.Secret{Name: "creds", Namespace: "ns"}, CIDRs: []string{"10.0.0.0/8"}}))
	note("unfenced", to.Fence(c, relay.Fence{Unfence: true}))
	clients, err := to.FenceClients(c, map[string]string{"a": "b"}, relay.Secret{Name: "creds", Namespace: "ns"})
	note(clients[0].GetId()+" "+clients[0].GetAddresses()[1].GetCidr(), err)
	for _, operation := range []relay.Operation{relay.Enable, relay.Disable, relay.Promote, relay.Demote, relay.Resync, relay.Info, relay.Destination} {
		of := &replication.ReplicationSource{Type: &replication.ReplicationSource_Volume{Volume: &replication.ReplicationSource_VolumeSource{VolumeId: "v"}}}
		if operation == relay.Destination {
			of = &replication.ReplicationSource{Type: &replication.ReplicationSource_Volumegroup{Volumegroup: &replication.ReplicationSource_VolumeGroupSource{VolumeGroupId: "g"}}}
		}
		answer, err := to.Replicate(c, relay.Replication{
			Operation: operation, ID: "id", Force: true, Parameters: map[string]string{"a": "b"}, Secret: relay.Secret{Name: "creds", Namespace: "ns"}, Source: of,
		})
		switch answer := answer.(type) {
		case *replication.ResyncVolumeResponse:
			note(answer.GetReady(), err)
		case *replication.GetVolumeReplicationInfoResponse:
			note(fmt.Sprint(answer.GetLastSyncTime().GetSeconds(), answer.GetLastSyncDuration().GetSeconds(), answer.GetLastSyncBytes(), answer.GetStatus(), answer.GetStatusMessage()), err)
		case *replication.GetReplicationDestinationInfoResponse:
			to := answer.GetReplicationDestination().GetVolumegroup()
			note(to.GetVolumeGroupId()+" "+to.GetVolumeIds()["v"], err)
		default:
			note("", err)
		}
	}
	made, err := to.CreateGroup(c, "new", relay.Group{Volumes: []string{"v"}, Parameters: map[string]string{"a": "b"}})
	note(made.GetVolumeGroupId()+" "+made.GetVolumeGroupContext()["pool"]+" "+made.GetVolumes()[0].GetVolumeId(), err)
	made, err = to.ModifyGroup(c, relay.Group{ID: "g", Volumes: []string{"v", "w"}})
	note(made.GetVolumeGroupId(), err)
	note("deleted", to.DeleteGroup(c, relay.Group{ID: "g"}))
	return answers
}

const at = "127.0.0.1:9070"

// live runs a process of the manager while a sidecar serves, by the real clock.
func live(t *testing.T, sidecar relay.Service, net *loopback, do func(n *relay.Network, p *kernel.Process)) {
	c := testcluster.NewAPI(t, nil)
	serving, calling := relay.Network{Outside: net, ManagerOutside: true}, relay.Network{Outside: net}
	t.Cleanup(calling.Close)
	server, done := c.Start("sidecar", ""), make(chan struct{})
	server.Go("server", func(p *kernel.Process) {
		require.NoError(t, serving.Listen(p, server, netip.MustParseAddrPort(at), true, sidecar))
		c.Start("manager", "").Go("main", func(p *kernel.Process) {
			defer close(done)
			do(&calling, p)
		})
		p.Wait("its end", func() bool { return false })
	})
	assert.Equal(t, kernel.Done, c.Kernel.RunLive(done, 1))
	server.Crash()
}

// The requests of the controller manager reach a sidecar in another program completely, and its
// answers return completely, over TLS with a token. A-SRV-1, A-SRV-3, A-POOL-2, A-TR-6
func TestProgramsReachEachOtherByGRPC(t *testing.T) {
	sidecar, direct := &asked{}, &asked{}
	var answers []string
	live(t, sidecar, &loopback{token: "good", at: map[int]string{}}, func(n *relay.Network, p *kernel.Process) {
		assert.NoError(t, n.Call(p, at, "all", true, time.Hour, func(to relay.Asked, c relay.Call) error {
			answers = manager(to, c)
			return nil
		}))
	})
	assert.Equal(t, manager(direct, relay.Call{}), answers, "as from a sidecar of the same process")
	assert.Equal(t, direct.by[:5], sidecar.by[:5])
	// Requests for information and destinations have no parameters, and some requests cannot be
	// forced.
	assert.Contains(t, sidecar.by, `PromoteVolume id="id" force=true map[a:b] {creds ns} v`)
	assert.Contains(t, sidecar.by, `GetVolumeReplicationInfo id="id" force=false map[] {creds ns} v`)
	assert.Contains(t, sidecar.by, `GetReplicationDestinationInfo id="" force=false map[] {creds ns} g`)
	assert.Len(t, sidecar.by, len(direct.by))
}

// A-SRV-2, A-POOL-2: callers without a valid token are rejected, and a dropped connection is
// dialled again.
func TestRequestsWithoutAGoodTokenAreRefused(t *testing.T) {
	net := &loopback{token: "bad", at: map[int]string{}}
	live(t, &asked{}, net, func(n *relay.Network, p *kernel.Process) {
		ask := func(secured bool) error {
			return n.Call(p, at, "GetCapabilities", secured, time.Hour, func(to relay.Asked, c relay.Call) error {
				_, err := to.GetCapabilities(c)
				return err
			})
		}
		assert.Equal(t, codes.Unauthenticated, status.Code(ask(true)))
		net.token = "good"
		assert.NoError(t, ask(true))
		n.Close()
		assert.ErrorContains(t, ask(false), "error reading server preface")
		assert.NoError(t, ask(true))
	})
}

// A-SRV-2: if only one of two sides uses TLS, the errors are the same as with gRPC between programs
// on a network.
func TestBothSidesHaveTLSOrNeither(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	var network relay.Network
	says := map[string]string{}
	ask := func(p *kernel.Process, address string, secured bool) string {
		err := network.Call(p, address, "GetCapabilities", secured, time.Hour, func(to relay.Asked, c relay.Call) error {
			_, err := to.GetCapabilities(c)
			return err
		})
		return status.Convert(err).Message()
	}
	server := c.Start("sidecar", "")
	server.Go("server", func(p *kernel.Process) {
		for address, secured := range map[string]bool{"10.0.0.1:1": true, "10.0.0.2:1": false} {
			assert.NoError(t, network.Listen(p, server, netip.MustParseAddrPort(address), secured, &asked{}))
		}
		p.Wait("its end", func() bool { return false })
	})
	c.Start("manager", "").Go("main", func(p *kernel.Process) {
		p.Sleep(time.Second)
		says["both"], says["neither"] = ask(p, "10.0.0.1:1", true), ask(p, "10.0.0.2:1", false)
		says["server"], says["client"] = ask(p, "10.0.0.1:1", false), ask(p, "10.0.0.2:1", true)
		says["nobody"] = ask(p, "10.0.0.3:1", true)
	})
	c.Run(time.Minute)
	assert.Equal(t, map[string]string{
		"both": "", "neither": "",
		"server": `connection error: desc = "error reading server preface: EOF"`,
		"client": `connection error: desc = "transport: authentication handshake failed: tls: first record does not look like a TLS handshake"`,
		"nobody": `connection error: desc = "transport: Error while dialing: dial tcp 10.0.0.3:1: connect: connection refused"`,
	}, says)
}
