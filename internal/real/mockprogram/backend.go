// Package mockprogram runs the in-memory reference driver as programs on a real cluster. Its
// backend is one process, which outlives the plugins. The plugins forward their calls to the
// backend, and the backend sends its mounts to the plugin on the node.
package mockprogram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/mock"
)

// Metadata of a call that a node forwards to the backend.
const (
	nodeKey   = "csisim-node-id"
	mountsKey = "csisim-mounts-at"
	tokenKey  = "csisim-token"
	startKey  = "csisim-start" // identifies a start of a controller plugin
	zoneKey   = "csisim-zone"
)

// Backend is the storage system of a cluster.
type Backend struct {
	// Options are the options of the driver.
	Options mock.Options
	// Address is the backend's address for plugins.
	Address string
	// Orders is the address for orders. Default: none.
	Orders string
	// Socket is the socket of a controller plugin in the same process. Default: it is a separate
	// process.
	Socket string
	// Token is the bearer token of plugins and backend.
	Token string

	driver  *mock.Driver
	mu      sync.Mutex
	nodes   map[string]*mock.Node  // nodes, by node id and address of the node
	changed map[string]changedNode // changed information of nodes, by the node id at the start
	start   string                 // start of the controller plugin; empty before its first call
}

// Serve serves until ctx ends.
func (b *Backend) Serve(ctx context.Context) error {
	if err := b.Options.Validate(); err != nil {
		return err
	}
	options := b.Options
	if options.Now == nil {
		options.Now = time.Now
	}
	b.driver, b.nodes, b.changed = mock.New(options), map[string]*mock.Node{}, map[string]changedNode{}
	ctx, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan error, 3)
	go func() {
		ended <- serve(ctx, listening{grpc.NewServer(grpc.UnknownServiceHandler(b.answer)), "tcp", b.Address})
	}()
	if b.Orders != "" {
		go func() { ended <- b.serveOrders(ctx) }()
	}
	if b.Socket != "" {
		go func() { ended <- Controller{Socket: b.Socket, Backend: b.Address, Token: b.Token}.Serve(ctx) }()
	}
	return <-ended
}

// listening is a server with its listener.
type listening struct {
	server           *grpc.Server
	network, address string
}

// serve serves until ctx ends, or until the server ends.
func serve(ctx context.Context, l listening) error {
	if l.network == "unix" {
		if err := os.MkdirAll(path.Dir(l.address), 0o755); err != nil {
			return err
		}
		if err := os.Remove(l.address); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	listener, err := net.Listen(l.network, l.address)
	if err != nil {
		return err
	}
	defer l.server.Stop()
	ended := make(chan error, 1)
	go func() { ended <- l.server.Serve(listener) }()
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// answer handles a call that a plugin has forwarded.
func (b *Backend) answer(_ any, stream grpc.ServerStream) error {
	fullMethod, _ := grpc.MethodFromServerStream(stream)
	given, _ := metadata.FromIncomingContext(stream.Context())
	if first(given, tokenKey) != b.Token {
		return status.Error(codes.PermissionDenied, "the token is missing or wrong")
	}
	services := []grpc.ServiceDesc{csi.Identity_ServiceDesc, csi.Node_ServiceDesc}
	var plugin any
	if start := first(given, startKey); start != "" {
		plugin, services = b.controller(start), append(services, csi.Controller_ServiceDesc, csi.GroupController_ServiceDesc)
	} else {
		plugin = b.node(first(given, nodeKey), first(given, mountsKey), first(given, zoneKey))
	}
	service, method, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	for _, desc := range services {
		for _, m := range desc.Methods {
			if desc.ServiceName == service && m.MethodName == method {
				answer, err := m.Handler(plugin, stream.Context(), stream.RecvMsg, nil)
				if err != nil {
					return err
				}
				return stream.SendMsg(answer)
			}
		}
	}
	return status.Error(codes.Unimplemented, fmt.Sprintf("unknown method %s", fullMethod))
}

func first(md metadata.MD, key string) string {
	if all := md.Get(key); len(all) > 0 {
		return all[0]
	}
	return ""
}

// controller returns the controller plugin. If start differs from the last start, it restarts the
// plugin.
func (b *Backend) controller(start string) *mock.Controller {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.start != "" && b.start != start {
		b.driver.Restart()
	}
	b.start = start
	return b.driver.Controller()
}

// node returns the driver's plugin on a node, with the address of its mounts.
func (b *Backend) node(id, mountsAt, zone string) *mock.Node {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := id + " " + mountsAt
	if b.nodes[key] == nil {
		changed := b.changed[id]
		o := mock.NodeOptions{NodeID: changed.idOf(id), Mounter: remoteMounter{mountsAt, b.Token}}
		if zone != "" {
			o.Topology = map[string]string{cmp.Or(b.Options.TopologyKey, b.driver.Name()+"/zone"): zone}
		}
		if changed.topology != nil {
			o.Topology = changed.topology
		}
		b.nodes[key] = b.driver.Node(o)
		b.nodes[key].Restart()
	}
	return b.nodes[key]
}
