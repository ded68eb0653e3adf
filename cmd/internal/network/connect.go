package network

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"github.com/csisim/csisim/internal/world/address"
)

// patience is how long a connection may take to come about.
const patience = 30 * time.Second

// connect connects a client in the cluster with where it wants to. It is refused if that cannot be reached.
func (n *Network) connect(r *tcp.ForwarderRequest) {
	to := wanted(r.ID())
	n.forwards.Go(func() {
		from := n.device(addressOf(r.ID().RemoteAddress))
		if from == nil { // it has left
			r.Complete(true)
			return
		}
		if to == resolver {
			if client := accept(r); client != nil {
				n.answerStream(from.ctx, client)
			}
			return
		}
		ctx, cancel := context.WithTimeout(from.ctx, patience)
		server, err := n.dial(ctx, "tcp", to)
		cancel()
		if err != nil {
			r.Complete(true)
			return
		}
		if client := accept(r); client != nil {
			splice(from.ctx, n.lifeOf(server), client, server)
		} else {
			_ = server.Close()
		}
	})
}

// lifeOf ends with what a connection leads to, if that is of the cluster.
func (n *Network) lifeOf(server net.Conn) context.Context {
	at, err := netip.ParseAddrPort(server.RemoteAddr().String())
	if err != nil || !inCluster(at.Addr()) {
		return n.ctx
	}
	if d := n.device(at.Addr()); d != nil {
		return d.ctx
	}
	gone, end := context.WithCancel(n.ctx)
	end()
	return gone
}

// wanted is where a client wants to.
func wanted(id stack.TransportEndpointID) netip.AddrPort {
	return netip.AddrPortFrom(addressOf(id.LocalAddress), id.LocalPort)
}

// accept completes the client's connection, nil if it is gone.
func accept(r *tcp.ForwarderRequest) *gonet.TCPConn {
	var queue waiter.Queue
	endpoint, err := r.CreateEndpoint(&queue)
	r.Complete(err != nil)
	if err != nil {
		return nil
	}
	endpoint.SocketOptions().SetKeepAlive(true)
	return gonet.NewTCPConn(&queue, endpoint)
}

// Dial connects with an address of the cluster, IP and port, as one of the machine that csisim runs on.
func (n *Network) Dial(ctx context.Context, protocol, to string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return nil, err
	}
	return n.dial(ctx, strings.TrimSuffix(protocol, "4"), at)
}

// dial connects with where an address of the cluster leads: a service to one of its pods, the host's to loopback of the machine that csisim
// runs on, and others, which are outside, to themselves.
func (n *Network) dial(ctx context.Context, protocol string, to netip.AddrPort) (net.Conn, error) {
	if c := n.cluster.Load(); c != nil && address.Services.Contains(to.Addr()) {
		backends, _ := (*c).Backends(to, protocol)
		if len(backends) == 0 {
			return nil, refused(protocol, to)
		}
		to = backends[rand.IntN(len(backends))]
	}
	if to.Addr() == address.Host {
		to = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), to.Port())
	}
	if !inCluster(to.Addr()) {
		var d net.Dialer
		return d.DialContext(ctx, protocol, to.String())
	}
	if n.device(to.Addr()) == nil {
		return nil, refused(protocol, to)
	}
	at := stackAddress(to)
	if protocol == "udp" {
		return gonet.DialUDP(n.stack, nil, &at, ipv4.ProtocolNumber)
	}
	conn, err := gonet.DialContextTCP(ctx, n.stack, at, ipv4.ProtocolNumber)
	var failed *net.OpError
	switch {
	case errors.As(err, &failed) && failed.Err.Error() == new(tcpip.ErrConnectionRefused).String():
		return nil, refused(protocol, to)
	case err != nil: // nil of the stack's type is no nil here
		return nil, err
	}
	return conn, nil
}

// refused is the system's error for an address at which nobody listens.
func refused(protocol string, at netip.AddrPort) error {
	return &net.OpError{Op: "dial", Net: protocol, Addr: net.TCPAddrFromAddrPort(at), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// stream is a connection of which each side can end what it sends.
type stream interface {
	net.Conn
	CloseWrite() error
}

// splice passes on what each side sends until both have ended, or one of them is gone.
func splice(from, to context.Context, client stream, server net.Conn) {
	both := func() {
		_ = client.Close()
		_ = server.Close()
	}
	defer both()
	defer context.AfterFunc(from, both)()
	defer context.AfterFunc(to, both)()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		pour(server.(stream), client)
	}()
	pour(client, server)
	<-sent
}

// pour copies until the end of one stream, which becomes that of the other. One that breaks ends both directions.
func pour(to stream, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		_ = from.Close()
		return
	}
	_ = to.CloseWrite() // it may be closed
}
