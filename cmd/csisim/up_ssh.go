package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/csisim/csisim/cmd/internal/sshd"
	"github.com/csisim/csisim/sim"
)

// login holds the address and the key for SSH to the nodes of a live cluster.
type login struct {
	Address string
	Key     []byte // private, in OpenSSH's form
}

// serveSSH serves SSH to the nodes until stop is called.
func serveSSH(c *sim.Simulation) (at login, stop func(), err error) {
	nodes := map[sshd.Names]sshd.Node{}
	for _, host := range c.Hosts() {
		nodes[sshd.Names{Name: host.Name, Address: host.Address}] = host
	}
	server, err := sshd.New(nodes)
	if err != nil {
		return login{}, nil, fmt.Errorf("making keys for SSH: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", "0"))
	if err != nil {
		return login{}, nil, &failure{code: exitEnvironment, err: fmt.Errorf("listening for SSH: %w", err)}
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
	return login{listener.Addr().String(), server.Key()}, stop, nil
}

func printSSHKey(out io.Writer, _ string, cluster liveState) error {
	_, err := out.Write(cluster.SSH.Key)
	return err
}

func printSSHAddress(out io.Writer, _ string, cluster liveState) error {
	_, err := fmt.Fprintln(out, cluster.SSH.Address)
	return err
}
