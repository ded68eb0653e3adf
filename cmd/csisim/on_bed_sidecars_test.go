package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// bedSidecars forwards the calls of the sidecars to the test bed's controller plugin. Each call
// goes to the socket of the calling sidecar at the proxy in the driver's pod. Until the pod exists,
// the description of the driver determines the answer.
type bedSidecars struct {
	*bed
	described *mock.Controller

	mu      sync.Mutex
	callers map[string][]string // of calls under way, by method
	conns   map[string]*grpc.ClientConn
}

func newSidecars(b *bed) *bedSidecars {
	return &bedSidecars{bed: b, described: mock.New(mock.Options{Name: bedDriver}).Controller(), callers: map[string][]string{}, conns: map[string]*grpc.ClientConn{}}
}

func (s *bedSidecars) services() (all []machine.Service) {
	for _, desc := range []grpc.ServiceDesc{csi.Identity_ServiceDesc, csi.Controller_ServiceDesc, csi.GroupController_ServiceDesc} {
		passing := grpc.ServiceDesc{ServiceName: desc.ServiceName, Metadata: desc.Metadata}
		for _, m := range desc.Methods {
			passing.Methods = append(passing.Methods, grpc.MethodDesc{MethodName: m.MethodName, Handler: s.pass("/"+desc.ServiceName+"/"+m.MethodName, m)})
		}
		all = append(all, machine.Service{Desc: &passing})
	}
	return all
}

type methodHandler = func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error)

func (s *bedSidecars) pass(method string, m grpc.MethodDesc) methodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request, answer, err := proxy.Messages(method)
		if err == nil {
			err = decode(request)
		}
		if err != nil {
			return nil, err
		}
		conn := s.dial(s.caller(method))
		if conn == nil {
			copied := func(into any) error {
				proto.Merge(into.(proto.Message), request)
				return nil
			}
			return m.Handler(s.described, ctx, copied, nil)
		}
		return answer, conn.Invoke(ctx, method, request, answer)
	}
}

// dial connects to a caller's socket; nil if it does not exist yet.
func (s *bedSidecars) dial(caller string) *grpc.ClientConn {
	if caller == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.Directories() {
		found, _ := filepath.Glob(filepath.Join(d.Path, "pods/*/files/sockets", caller+".sock"))
		own, _ := filepath.Glob(filepath.Join(d.Path, "pods/*/files/csisim-at-"+strings.TrimPrefix(caller, "csi-"), "csi.sock"))
		for _, socket := range append(found, own...) {
			if s.conns[socket] != nil {
				return s.conns[socket]
			}
			conn, err := grpc.NewClient("passthrough:///"+caller, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dialIn(socket)))
			if err == nil {
				s.conns[socket] = conn
				return conn
			}
		}
	}
	return nil
}

// dialIn connects to a socket with a full path that may be too long for a socket address.
func dialIn(socket string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		dir, err := os.Open(filepath.Dir(socket))
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return (&net.Dialer{}).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)))
	}
}

// observe records the caller of each call.
func (s *bedSidecars) observe() { s.Wire.Observer = bedObserver{s.Wire.Observer, s} }

type bedObserver struct {
	wire.Observer
	sidecars *bedSidecars
}

func (o bedObserver) Began(site wire.Site, e *trace.Event) {
	if site.Node == "" {
		o.sidecars.mu.Lock()
		method := "/csi.v1." + e.Method
		o.sidecars.callers[method] = append(o.sidecars.callers[method], site.Caller)
		o.sidecars.mu.Unlock()
	}
	o.Observer.Began(site, e)
}

// caller removes and returns the caller of the oldest call of a method that is under way.
func (s *bedSidecars) caller(method string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.callers[method]
	if len(waiting) == 0 {
		return "" // the simulation queries the driver's capabilities
	}
	s.callers[method] = waiting[1:]
	return waiting[0]
}
