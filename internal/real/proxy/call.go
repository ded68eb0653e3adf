package proxy

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// bind listens at a path. Every process that may enter the directory can connect.
func bind(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", path)
}

// handler forwards the calls of one caller.
func (p *Proxy) handler(caller string) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		request, answer, err := Messages(method)
		if err != nil {
			return p.passOn(stream, method)
		}
		if err := stream.RecvMsg(request); err != nil {
			return err
		}
		if err := p.pass(stream.Context(), caller, method, request, answer); err != nil {
			return p.asSeenBy(caller, err)
		}
		return stream.SendMsg(answer)
	}
}

// asSeenBy returns an error in the form that its caller would receive without the proxy. If the
// driver has exited, it names the caller's socket.
func (p *Proxy) asSeenBy(caller string, err error) error {
	socket := p.options.Listen[caller]
	if caller == "kubelet" {
		socket = filepath.Join(machine.KubeletDir, "plugins", p.options.Driver, "csi.sock")
	}
	dialled := "dial unix " + p.options.Upstream + ":"
	if s, ok := status.FromError(err); ok && strings.Contains(s.Message(), dialled) {
		return status.Error(s.Code(), strings.ReplaceAll(s.Message(), dialled, "dial unix "+socket+":"))
	}
	return err
}

// Messages returns an empty request and an empty answer of a method. The error is Unimplemented for
// an unknown method, and for one with several messages.
func Messages(fullMethod string) (request, answer proto.Message, err error) {
	types, known := methods.Load(fullMethod)
	if !known {
		in, out, err := typesOf(fullMethod)
		if err != nil {
			return nil, nil, err
		}
		types, _ = methods.LoadOrStore(fullMethod, [2]protoreflect.MessageType{in, out})
	}
	both := types.([2]protoreflect.MessageType)
	return both[0].New().Interface(), both[1].New().Interface(), nil
}

// methods caches looked-up methods.
var methods sync.Map

func typesOf(fullMethod string) (request, answer protoreflect.MessageType, err error) {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(fullMethod, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	method, ok := found.(protoreflect.MethodDescriptor)
	if err != nil || !ok || method.IsStreamingClient() || method.IsStreamingServer() {
		return nil, nil, status.Errorf(codes.Unimplemented, "unknown method %s: the proxy knows those of CSI %s", fullMethod, "v1.13.0")
	}
	if request, err = protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName()); err != nil {
		return nil, nil, status.Errorf(codes.Unimplemented, "request of %s: %v", fullMethod, err)
	}
	if answer, err = protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName()); err != nil {
		return nil, nil, status.Errorf(codes.Unimplemented, "answer of %s: %v", fullMethod, err)
	}
	return request, answer, nil
}

// patient is the timeout of a call without a deadline.
const patient = 24 * time.Hour

// slack bounds how much earlier than the proxy a caller may notice its expired deadline and cancel
// the call.
const slack = 100 * time.Millisecond

// pass makes a call as a process of the kernel, which ends when its caller disconnects.
func (p *Proxy) pass(ctx context.Context, caller, method string, request, answer proto.Message) error {
	limit := patient
	deadline, bounded := ctx.Deadline()
	if bounded {
		limit = time.Until(deadline)
	}
	k, group, done := p.world.Kernel, kernel.NewGroup(caller), make(chan error, 1)
	k.Post(func() {
		site := wire.Site{
			Caller: caller, Driver: p.options.Driver, Node: p.options.Node, Machine: p.machine,
			Socket: p.options.Upstream, Deadline: k.Elapsed() + limit,
		}
		p.calls[group] = caller
		process := k.Spawn(group, caller+" "+method, func(q *kernel.Process) {
			done <- p.wire.Conn(q, site).Invoke(ctx, method, request, answer)
		})
		process.OnEnd(func() {
			delete(p.calls, group)
			p.records.take()
			select {
			case done <- status.Error(codes.Canceled, "the proxy ended the call"):
			default:
			}
		})
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if ctx.Err() == context.Canceled && (!bounded || time.Until(deadline) > slack) {
			k.Post(group.Crash)
		}
		return status.FromContextError(ctx.Err()).Err()
	}
}

// underWay holds the calls in progress, with their callers. Only the kernel's goroutine uses it.
type underWay map[*kernel.Group]string

// endOf ends the calls of callers that a fault has killed. Otherwise the proxy may notice the lost
// connection only after it has sent the answer.
func (u underWay) endOf(victim fault.Victim, at string) {
	for group, caller := range u {
		if victim == fault.Node || string(victim) == caller || victim == fault.Caller && caller == at {
			group.Crash()
		}
	}
}

// String names the proxy in logs.
func (o Options) String() string {
	if o.Node == "" {
		return fmt.Sprintf("proxy of %s", o.Driver)
	}
	return fmt.Sprintf("proxy of %s on %s", o.Driver, o.Node)
}
