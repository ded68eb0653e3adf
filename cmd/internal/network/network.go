// Package network is the network of a live cluster: nodes and pods in network namespaces of their own, and csisim, in user space, as the
// switch between them, as the services in front of pods, as the name server, and as the way out.
//
// Each namespace has one interface, a TUN device whose other end is here. What goes from one to another is passed on as it is. All else ends
// in a TCP/IP stack of this process, which connects in its place: with the pods of a service, or from the machine that csisim runs on. The
// machine's own network is not changed, and nothing takes root.
package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/machine"
)

// Cluster is what the network asks of the cluster. It is safe for concurrent use.
type Cluster interface {
	// Backends are where a port of a service leads; false if no service has it.
	Backends(service netip.AddrPort, protocol string) ([]netip.AddrPort, bool)
	// Addresses are those of a name of the cluster's domain; false if there is no such name.
	Addresses(name string) ([]netip.Addr, bool)
	// Ports are the ports that a name such as "_http._tcp.web.default.svc.cluster.local" leads to; false if there is no such name.
	Ports(name string) ([]net.SRV, bool)
	// Alias is another name for one of the cluster's domain; empty if it has none.
	Alias(name string) string
}

// Network is the network of a cluster.
type Network struct {
	stack   *stack.Stack
	link    *link
	cluster atomic.Pointer[Cluster]
	ctx     context.Context // of all connections
	end     context.CancelFunc

	mu       sync.RWMutex
	devices  map[netip.Addr]*device
	reading  sync.WaitGroup
	forwards sync.WaitGroup
}

// New makes a network to which nothing belongs yet.
func New() (*Network, error) {
	n := &Network{devices: map[netip.Addr]*device{}}
	n.ctx, n.end = context.WithCancel(context.Background())
	if err := n.startStack(); err != nil {
		n.end()
		return nil, fmt.Errorf("start the network's stack: %w", err)
	}
	return n, nil
}

// Permitted tries whether the machine that csisim runs on allows networks to this user, for a number of nodes, and returns why not.
func Permitted(nodes int) error {
	if nodes > address.MostNodes {
		return fmt.Errorf("there are %d nodes, and at most %d have a subnet for their pods", nodes, address.MostNodes)
	}
	tried, err := machine.NewNetwork(address.Host, func(at netip.Addr) (leave func(), err error) {
		d, err := openDevice(at)
		if err != nil {
			return nil, err
		}
		return func() { _ = d.file.Close() }, nil
	})
	if err != nil {
		return err
	}
	tried.Close()
	return nil
}

// Serve makes the services and names of a cluster known.
func (n *Network) Serve(c Cluster) { n.cluster.Store(&c) }

// Join makes the network namespace that the calling OS thread is in a part of the network, until leave is called.
func (n *Network) Join(at netip.Addr) (leave func(), err error) {
	d, err := openDevice(at)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.devices == nil:
		err = errors.New("the network is closed")
	case n.devices[at] != nil:
		err = fmt.Errorf("%s is taken", at)
	}
	if err != nil {
		return nil, errors.Join(err, d.file.Close())
	}
	d.ctx, d.end = context.WithCancel(n.ctx)
	n.devices[at] = d
	n.reading.Go(func() { n.read(d) })
	return func() { n.remove(at) }, nil
}

func (n *Network) remove(at netip.Addr) {
	n.mu.Lock()
	d := n.devices[at]
	delete(n.devices, at)
	n.mu.Unlock()
	if d != nil {
		d.end()
		_ = d.file.Close() // its reader ends
	}
}

// device is the device of an address, nil if it has none.
func (n *Network) device(at netip.Addr) *device {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.devices[at]
}

// Close ends all connections. What is in the namespaces is alone then.
func (n *Network) Close() {
	n.mu.Lock()
	devices := n.devices
	n.devices = nil
	n.mu.Unlock()
	n.end()
	for _, d := range devices {
		_ = d.file.Close()
	}
	n.reading.Wait()
	n.stack.Close()
	n.forwards.Wait()
	n.stack.Wait()
}

// inCluster reports whether an address is of the cluster's subnets.
func inCluster(at netip.Addr) bool {
	return address.Pods.Contains(at) || address.Nodes.Contains(at) || address.Services.Contains(at)
}
