package machine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
)

// Network is a network namespace, of a machine or of a pod on it.
type Network struct {
	Address   netip.Addr
	namespace *os.File
	leave     func()
	closed    sync.Once
}

// Join connects the network namespace of the calling OS thread to a larger network, in which it has
// an address. leave disconnects it.
type Join func(address netip.Addr) (leave func(), err error)

// Dial connects to an address, IP and port, in its network.
type Dial func(ctx context.Context, network, to string) (net.Conn, error)

// NewNetwork makes a network namespace. It exists until Close, or csisim's end, and the end of the
// last program in it.
func NewNetwork(address netip.Addr, join Join) (*Network, error) {
	n := &Network{Address: address}
	made, err := startThread(func() (err error) {
		if n.namespace, err = unshareNetwork(); err != nil {
			return err
		}
		n.leave, err = join(address)
		return err
	})
	if err != nil {
		if n.namespace != nil {
			_ = n.namespace.Close()
		}
		return nil, fmt.Errorf("make the network of %s: %w", address, err)
	}
	made.stop() // the file keeps the namespace
	return n, nil
}

// Dial connects to an address, IP and port, like a program in the network.
func (n *Network) Dial(ctx context.Context, network, to string) (conn net.Conn, err error) {
	inside, err := startThread(n.enter)
	if err != nil {
		return nil, err
	}
	defer inside.stop()
	var d net.Dialer
	err = inside.do(func() error {
		// A socket belongs to the network in which it is created.
		conn, err = d.DialContext(ctx, network, to)
		return err
	})
	return conn, err
}

// Close disconnects the network from the larger one. Programs in it continue, isolated.
func (n *Network) Close() {
	n.closed.Do(func() {
		n.leave()
		_ = n.namespace.Close()
	})
}
