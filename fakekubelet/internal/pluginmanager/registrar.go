package pluginmanager

import (
	"context"
	"io"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// registrar is the kubelet's connection to the server of a registration socket.
type registrar struct {
	*Manager
	process  *kernel.Process
	socket   string
	created  creation
	client   grpc.ClientConnInterface
	closer   io.Closer
	deadline time.Duration // of the next call
}

// connect opens a separate connection for one handshake.
func (m *Manager) connect(p *kernel.Process, socket string, created creation) (*registrar, error) {
	client, closer, err := m.machine.DialSocket(socket)
	if err != nil {
		return nil, dialFailed(socket, err)
	}
	return &registrar{Manager: m, process: p, socket: socket, created: created, client: client, closer: closer}, nil
}

func (r *registrar) close() { _ = r.closer.Close() } // fails only if it is already closed

// Invoke makes one call of the handshake and records it.
func (r *registrar) Invoke(_ context.Context, fullMethod string, args, reply any, _ ...grpc.CallOption) error {
	request, answer := args.(proto.Message), reply.(proto.Message)
	event := r.begin("Registration/"+path.Base(fullMethod), request)
	err := r.exchange(fullMethod, request, answer)
	r.end(event, answer, err)
	return err
}

// NewStream is not part of the registration API.
func (r *registrar) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "the registration API has no streaming calls")
}

func (r *registrar) exchange(fullMethod string, request, answer proto.Message) error {
	return wire.Exchange(r.process, r.machine, r.client, kernel.Matter{}, fullMethod, request, answer, r.deadline)
}

func (r *registrar) begin(method string, request proto.Message) *trace.Event {
	r.process.Yield(method)
	return r.kubelet.Trace.Begin(trace.Entry{
		Kind: trace.Registration, Actor: "kubelet", Node: r.kubelet.Node, Method: method, Name: r.socket, Request: request,
	})
}

func (r *registrar) end(event *trace.Event, answer proto.Message, err error) {
	if err != nil {
		event.Code, event.Message = status.Code(err).String(), status.Convert(err).Message()
	} else {
		event.Response = answer
	}
	r.kubelet.Trace.End(event)
	r.process.Yield("answer to ", event.Method)
}
