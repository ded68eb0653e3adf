package machine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
)

// Network is a network namespace: that of a machine or of a pod on it.
type Network struct {
	Address   netip.Addr
	namespace *os.File
	leave     func()
	closed    sync.Once
}

// Join makes the network namespace that the calling OS thread is in a part of a larger network, where it has an address. leave takes it out again.
type Join func(address netip.Addr) (leave func(), err error)

// Dial connects with an address, IP and port, of the network that it stands for.
type Dial func(ctx context.Context, network, to string) (net.Conn, error)

// NewNetwork makes a network namespace. It ends with the last program in it, after Close or csisim's own end.
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

// Dial connects with an address, IP and port, as a program in the network does.
func (n *Network) Dial(ctx context.Context, network, to string) (conn net.Conn, err error) {
	inside, err := startThread(n.enter)
	if err != nil {
		return nil, err
	}
	defer inside.stop()
	var d net.Dialer
	err = inside.do(func() error {
		conn, err = d.DialContext(ctx, network, to) // a socket is of the network in which it is made
		return err
	})
	return conn, err
}

// Close takes it out of the larger network. What runs in it runs on, alone.
func (n *Network) Close() {
	n.closed.Do(func() {
		n.leave()
		_ = n.namespace.Close()
	})
}
