package relay

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Outside is the network between programs inside and outside the simulation.
type Outside interface {
	// Serve answers at a port of loopback until stop is called. If it is secured, it uses TLS and
	// answers only callers with a valid token. The error comes from the network.
	Serve(port int, secured bool, register func(grpc.ServiceRegistrar)) (stop func(), err error)
	// Left returns the time for which an outside caller will still wait.
	Left(context.Context) time.Duration
	// Dial connects to an address. If it is secured, it uses TLS and the token of the controller
	// manager. Nothing is sent before the first call.
	Dial(address string, secured bool) (Connection, error)
}

// Connection is a connection to a program outside.
type Connection interface {
	grpc.ClientConnInterface
	io.Closer
}

// callOut calls a sidecar outside the simulation. After a network error the connection is dropped,
// and the next call connects again. A-POOL-2
func (n *Network) callOut(p *kernel.Process, address, what string, secured bool, deadline time.Duration, do func(Asked, Call) error) error {
	conn, ok := n.connections[address]
	if !ok {
		var err error
		if conn, err = n.Outside.Dial(address, secured); err != nil {
			return err
		}
		if n.connections == nil {
			n.connections = map[string]Connection{}
		}
		n.connections[address] = conn
	}
	err := do(remote{outgoing{conn, p, what, deadline}}, Call{p, deadline})
	if status.Code(err) == codes.Unavailable && n.connections[address] == conn {
		delete(n.connections, address)
		_ = conn.Close()
	}
	return err
}

// Close closes all connections.
func (n *Network) Close() {
	for address, conn := range n.connections { // any order
		_ = conn.Close()
		delete(n.connections, address)
	}
}

// outgoing is a connection for one call of a process.
type outgoing struct {
	Connection
	process  *kernel.Process
	what     string
	deadline time.Duration
}

// Invoke makes the call and yields until the answer has arrived.
func (o outgoing) Invoke(_ context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.deadline-o.process.Elapsed())
	into := answer.(proto.Message)
	arriving := into.ProtoReflect().New().Interface()
	var failure error
	answered := o.process.Fly(o.what, kernel.Matter{}, o.deadline, func() {
		defer cancel()
		failure = o.Connection.Invoke(ctx, method, request, arriving, opts...)
	}, cancel)
	switch {
	case !answered:
		return status.Error(codes.DeadlineExceeded, "context deadline exceeded")
	case failure != nil:
		return failure
	}
	proto.Merge(into, arriving)
	return nil
}
