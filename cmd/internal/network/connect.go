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

// patience bounds the time for establishing a connection.
const patience = 30 * time.Second

// connect connects a client in the cluster with its destination. The connection is refused if the
// destination cannot be reached.
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
		// If the client leaves during its handshake, the handshake never ends.
		defer context.AfterFunc(from.ctx, func() { _ = server.Close() })()
		if client := accept(r); client != nil {
			splice(from.ctx, n.lifeOf(server), client, server)
		} else {
			_ = server.Close()
		}
	})
}

// lifeOf returns a context that ends when the server of a connection ends, if the server is in the
// cluster.
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

// wanted returns the destination of a client.
func wanted(id stack.TransportEndpointID) netip.AddrPort {
	return netip.AddrPortFrom(addressOf(id.LocalAddress), id.LocalPort)
}

// accept completes the client's connection; nil if the client has disconnected.
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

// Dial connects to an address of the cluster, IP and port, from the machine that csisim runs on.
func (n *Network) Dial(ctx context.Context, protocol, to string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return nil, err
	}
	return n.dial(ctx, strings.TrimSuffix(protocol, "4"), at)
}

// dial connects to the server of an address. For a service, this is one of its pods; for the host,
// it is loopback of csisim's machine. Other addresses are outside and dialled directly.
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
	case err != nil: // a nil pointer of the stack's type is not a nil interface
		return nil, err
	}
	return conn, nil
}

// refused returns the system's error for an address without a listener.
func refused(protocol string, at netip.AddrPort) error {
	return &net.OpError{Op: "dial", Net: protocol, Addr: net.TCPAddrFromAddrPort(at), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// stream is a connection with separately closable directions.
type stream interface {
	net.Conn
	CloseWrite() error
}

// splice forwards data between both sides until both have ended, or one of them leaves.
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

// pour copies one stream until its end, and then closes that direction of the other stream. An
// error ends both directions.
func pour(to stream, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		_ = from.Close()
		return
	}
	_ = to.CloseWrite() // it may be closed
}
