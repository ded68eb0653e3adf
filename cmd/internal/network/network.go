// Package network is the network of a live cluster. Nodes and pods are in their own network
// namespaces. csisim, in user space, is the switch between them, the services in front of pods, the
// name server, and the way out.
//
// Each namespace has one interface: a TUN device with its other end in csisim. Packets between
// namespaces are forwarded unchanged. All other connections end in a TCP/IP stack of this process.
// For each of these connections, the stack connects to a pod of the service, or to the outside from
// csisim's machine. This needs no root and leaves the machine's own network unchanged.
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

// Cluster provides the services and names of the cluster. It is safe for concurrent use.
type Cluster interface {
	// Backends returns the addresses behind a port of a service; false if no service has it.
	Backends(service netip.AddrPort, protocol string) ([]netip.AddrPort, bool)
	// Addresses returns the addresses of a name in the cluster's domain; false if the name does not
	// exist.
	Addresses(name string) ([]netip.Addr, bool)
	// Ports returns the ports of a name such as "_http._tcp.web.default.svc.cluster.local"; false
	// if the name does not exist.
	Ports(name string) ([]net.SRV, bool)
	// Alias returns the name for which a name of the cluster's domain is an alias; "" if it is not
	// an alias.
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

// New returns a network without members.
func New() (*Network, error) {
	n := &Network{devices: map[netip.Addr]*device{}}
	n.ctx, n.end = context.WithCancel(context.Background())
	if err := n.startStack(); err != nil {
		n.end()
		return nil, fmt.Errorf("start the network's stack: %w", err)
	}
	return n, nil
}

// Permitted returns the reason why csisim's machine does not permit this user to create networks
// for a number of nodes; nil if it does.
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

// Serve sets the cluster that provides the services and names.
func (n *Network) Serve(c Cluster) { n.cluster.Store(&c) }

// Join adds the network namespace of the calling OS thread to the network, until leave is called.
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
		_ = d.file.Close() // this ends its reader
	}
}

// device returns the device of an address, nil if it has none.
func (n *Network) device(at netip.Addr) *device {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.devices[at]
}

// Close ends all connections. The namespaces are isolated afterwards.
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

// inCluster reports whether an address belongs to the cluster's subnets.
func inCluster(at netip.Addr) bool {
	return address.Pods.Contains(at) || address.Nodes.Contains(at) || address.Services.Contains(at)
}
