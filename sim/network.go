package sim

import (
	"context"
	"net"
	"net/netip"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/discovery"
	"github.com/csisim/csisim/internal/world/machine"
)

// Network connects the networks of nodes and pods with each other and with the outside world. It
// also has to serve the cluster's services and names: see Discovery.
type Network interface {
	// Join connects the network namespace of the calling OS thread, with an address, until leave is
	// called.
	Join(at netip.Addr) (leave func(), err error)
	// Dial connects with an address of the cluster, IP and port, like the API server.
	Dial(ctx context.Context, network, to string) (net.Conn, error)
}

// Discovery resolves the services of a cluster. It is safe for concurrent use.
type Discovery struct{ cluster *Simulation }

// Discovery resolves the services of the cluster.
func (c *Simulation) Discovery() Discovery { return Discovery{c} }

// Backends returns the addresses to which a service forwards connections to an address; false if no
// service has the address.
func (d Discovery) Backends(at netip.AddrPort, protocol string) (found []netip.AddrPort, ok bool) {
	d.cluster.Exclusively(func() { found, ok = discovery.Backends(d.cluster.World.Store, at, protocol) })
	return found, ok
}

// Addresses returns the addresses of a name in the cluster's domain; false for an unknown name.
func (d Discovery) Addresses(name string) (found []netip.Addr, ok bool) {
	d.cluster.Exclusively(func() { found, ok = discovery.Addresses(d.cluster.World.Store, name) })
	return found, ok
}

// Alias returns the target of a service of type ExternalName; empty for any other name.
func (d Discovery) Alias(name string) (other string) {
	d.cluster.Exclusively(func() { other = discovery.Alias(d.cluster.World.Store, name) })
	return other
}

// Ports returns the targets of a named service port; false for an unknown name.
func (d Discovery) Ports(name string) (found []net.SRV, ok bool) {
	d.cluster.Exclusively(func() { found, ok = discovery.Ports(d.cluster.World.Store, name) })
	return found, ok
}

// networkOf makes the network of a node, by its number from 0; nil if nodes share csisim's network.
func (o Options) networkOf(number int) (*fakekubelet.Networks, error) {
	if o.Network == nil {
		return nil, nil
	}
	at := address.FirstNode
	for range number {
		at = at.Next()
	}
	own, err := machine.NewNetwork(at, o.Network.Join)
	if err != nil {
		return nil, &EnvironmentError{Doing: "give nodes networks of their own", Err: err}
	}
	return &fakekubelet.Networks{Node: own, Pods: address.PodsOf(number), Join: o.Network.Join}, nil
}

// nameServer returns the name server of pods; empty if they use the node's.
func (o Options) nameServer() string {
	if o.Network == nil {
		return ""
	}
	return address.DNS.String()
}

// loopbackSeen returns the address by which pods reach loopback of the machine that csisim runs on.
func (o Options) loopbackSeen() string {
	if o.Network == nil {
		return "127.0.0.1"
	}
	return address.Host.String()
}

// dial connects with an address like the API server.
func (o Options) dial(ctx context.Context, network, to string) (net.Conn, error) {
	if o.Network == nil {
		return new(net.Dialer).DialContext(ctx, network, to)
	}
	return o.Network.Dial(ctx, network, to)
}
