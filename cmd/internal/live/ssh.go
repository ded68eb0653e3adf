package live

import (
	"context"
	"fmt"
	"net"

	"github.com/csisim/csisim/cmd/internal/sshd"
	"github.com/csisim/csisim/sim"
)

// Login holds the address and the key for SSH to the nodes of a live cluster.
type Login struct {
	Address string
	Key     []byte // private, in OpenSSH's form
}

// serveSSH serves SSH to the nodes until stop is called.
func serveSSH(c *sim.Simulation) (at Login, stop func(), err error) {
	nodes := map[sshd.Names]sshd.Node{}
	for _, host := range c.Hosts() {
		nodes[sshd.Names{Name: host.Name, Address: host.Address}] = host
	}
	server, err := sshd.New(nodes)
	if err != nil {
		return Login{}, nil, fmt.Errorf("making keys for SSH: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", "0"))
	if err != nil {
		return Login{}, nil, &EnvironmentError{fmt.Errorf("listening for SSH: %w", err)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(ctx, listener)
	}()
	stop = func() {
		cancel()
		<-served
	}
	return Login{listener.Addr().String(), server.Key()}, stop, nil
}
