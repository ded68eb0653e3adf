package wire

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
)

// address is a socket of one machine.
type address struct{ machine, socket string }

func (s Site) address() address { return address{s.Machine.Name(), s.Socket} }

// dial connects to the current socket. A connection is kept until a call on it finds no server.
func (w *Wire) dial(s Site) (grpc.ClientConnInterface, error) {
	key := s.address()
	if c, ok := w.connections[key]; ok {
		return c.client, nil
	}
	client, closer, err := s.Machine.DialSocket(s.Socket)
	if err != nil {
		return nil, err
	}
	w.connections[key] = connection{client, closer}
	return client, nil
}

// redialled is a client that dials again if its connection was closed between the creation and the
// launch of a call. By then another program may serve the socket.
type redialled struct {
	grpc.ClientConnInterface
	site Site
}

// Invoke makes a call.
func (r redialled) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	err := r.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
	if ctx.Err() != nil || !isClosing(err) {
		return err
	}
	client, closer, err := r.site.Machine.DialSocket(r.site.Socket)
	if err != nil {
		return status.Errorf(codes.Unavailable, "connection error: desc = %q", err.Error())
	}
	defer closer.Close()
	return client.Invoke(ctx, method, request, answer, opts...)
}

// isClosing reports whether a call was made on a connection that gRPC has closed. A driver may also
// answer with the code Canceled, but not with this message.
func isClosing(err error) bool {
	return status.Code(err) == codes.Canceled && status.Convert(err).Message() == "grpc: the client connection is closing"
}

// forget drops a connection that is no longer usable.
func (w *Wire) forget(s Site, err error) {
	if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
		return
	}
	w.Forget(s.Machine, s.Socket)
}

// Forget closes the connection to a socket after its server has exited. The next caller dials
// again, as the kubelet does for each call (K-RPC-2), even if the end of the old connection has not
// been noticed yet.
func (w *Wire) Forget(m machine.Machine, socket string) {
	key := address{m.Name(), socket}
	if c, ok := w.connections[key]; ok {
		c.closer.Close()
		delete(w.connections, key)
	}
}

// onMachine returns the request with its paths in the view of a program on that machine.
func (c *call) onMachine(request proto.Message) proto.Message {
	if InProcess(c.site.Machine) {
		return request
	}
	var changed proto.Message
	fields := request.ProtoReflect().Descriptor().Fields()
	for _, name := range contract.PathFields {
		field := fields.ByName(name)
		if field == nil {
			continue
		}
		path := request.ProtoReflect().Get(field).String()
		real := path
		if path != "" {
			real = c.site.Machine.ProgramPath(path)
		}
		if real == path {
			continue
		}
		if changed == nil {
			changed = proto.Clone(request)
		}
		changed.ProtoReflect().Set(field, protoreflect.ValueOfString(real))
	}
	if changed == nil {
		return request
	}
	return changed
}
