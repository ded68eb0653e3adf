package drivers

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// address is a socket of one machine.
type address struct{ machine, socket string }

func (s Site) address() address { return address{s.Machine.Name(), s.Socket} }

// dial reaches the socket as it is now. A connection is kept until a call on it
// finds nobody there.
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

// forget drops a connection that is no good any more.
func (w *Wire) forget(s Site, err error) {
	if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
		return
	}
	key := s.address()
	if c, ok := w.connections[key]; ok {
		c.closer.Close()
		delete(w.connections, key)
	}
}

// pathFields are the request fields that hold a path on the node.
var pathFields = []protoreflect.Name{"staging_target_path", "target_path", "volume_path"}

// onMachine is the request with paths as a program on that machine finds them.
func (c *call) onMachine(request proto.Message) proto.Message {
	var changed proto.Message
	fields := request.ProtoReflect().Descriptor().Fields()
	for _, name := range pathFields {
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
