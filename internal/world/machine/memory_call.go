package machine

import (
	"context"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// memoryConn is a client of a socket in memory. It runs the server's handler in the caller's
// goroutine, on copies of the messages, so that neither side can modify the other's. If the service
// never blocks, the copies are shallow.
type memoryConn struct {
	machine *Memory
	path    string
	closed  atomic.Bool
}

// Close ends the client; later calls fail like those of a closed gRPC client.
func (c *memoryConn) Close() error {
	c.closed.Store(true)
	return nil
}

// Invoke makes one unary call.
func (c *memoryConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if c.closed.Load() {
		return status.Error(codes.Canceled, "grpc: the client connection is closing")
	}
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	server, err := c.machine.serving(c.path)
	if err != nil {
		return err
	}
	transport := &memoryTransport{method: method}
	seen, cancel := seenByServer(ctx)
	defer cancel()
	answer, prompt, err := server.handle(seen, transport, args)
	transport.report(opts)
	switch {
	case c.machine.isDead(server):
		return status.Error(codes.Unavailable, "error reading from server: EOF")
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case err != nil:
		return asStatus(err)
	case prompt:
		return shareMessage(reply, answer)
	}
	return copyMessage(reply, answer)
}

// seenByServer returns the context in which a server handles a call. As over a network, it ends at
// the caller's deadline, even if the caller waits longer.
func seenByServer(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, limited := ctx.Deadline(); limited {
		return context.WithDeadline(ctx, deadline)
	}
	return ctx, func() {}
}

// Prompt reports whether the server now at the socket never blocks.
func (c *memoryConn) Prompt() bool {
	server, err := c.machine.serving(c.path)
	return err == nil && !slices.ContainsFunc(server.services, func(s Service) bool { return !s.Prompt })
}

// NewStream fails: no service of a simulated node streams.
func (c *memoryConn) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Errorf(codes.Unimplemented, "streaming call %s: a machine in memory has unary calls only", method)
}

func (m *Memory) isDead(l *memoryListener) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return l.dead
}

// handle finds the method's handler and runs it. The caller must not modify a prompt handler's
// answer.
func (l *memoryListener) handle(ctx context.Context, transport *memoryTransport, args any) (answer any, prompt bool, err error) {
	serviceName, methodName, _ := strings.Cut(strings.TrimPrefix(transport.method, "/"), "/")
	for _, service := range l.services {
		if service.Desc.ServiceName != serviceName {
			continue
		}
		for _, method := range service.Desc.Methods {
			if method.MethodName != methodName {
				continue
			}
			seen := &callContext{Context: ctx, transport: transport}
			if service.Prompt {
				answer, err = method.Handler(service.Server, seen, func(any) error { return nil },
					func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
						return handle(ctx, args)
					})
				return answer, true, err
			}
			answer, err = method.Handler(service.Server, seen, func(into any) error { return copyMessage(into, args) }, nil)
			return answer, false, err
		}
		return nil, false, status.Errorf(codes.Unimplemented, "unknown method %s for service %s", methodName, serviceName)
	}
	return nil, false, status.Errorf(codes.Unimplemented, "unknown service %s", serviceName)
}

// callContext is the part of a client's context that reaches a server: deadline, cancellation and
// metadata, but no values. Its own values are created at their first use, because few servers read
// them.
type callContext struct {
	context.Context
	transport *memoryTransport
	made      sync.Once
	values    context.Context
}

func (c *callContext) Value(key any) any {
	c.made.Do(c.makeValues)
	return c.values.Value(key)
}

func (c *callContext) makeValues() {
	sent, _ := metadata.FromOutgoingContext(c.Context)
	values := metadata.NewIncomingContext(context.Background(), sent.Copy())
	values = peer.NewContext(values, &peer.Peer{Addr: &net.UnixAddr{Name: "@", Net: "unix"}})
	c.values = grpc.NewContextWithServerTransportStream(values, c.transport)
}

// AfterFunc lets a server derive contexts without the goroutine that package context would start
// for a foreign context type.
func (c *callContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(c.Context, f) }

// asStatus turns a handler's error into the error that the client receives.
func asStatus(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	return s.Err()
}

// copyMessage replaces the content of one message by that of another.
func copyMessage(into, from any) error {
	source, ok := from.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "grpc: error while marshaling: message is %T, want proto.Message", from)
	}
	target, ok := into.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "grpc: failed to unmarshal the received message: message is %T, want proto.Message", into)
	}
	proto.Reset(target)
	proto.Merge(target, source)
	return nil
}

// shareMessage replaces the content of one message by a shallow copy of another.
func shareMessage(into, from any) error {
	target, source := reflect.ValueOf(into), reflect.ValueOf(from)
	if target.Type() != source.Type() || source.IsNil() {
		return copyMessage(into, from)
	}
	target.Elem().Set(source.Elem())
	return nil
}
