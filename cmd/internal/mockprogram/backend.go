// Package mockprogram serves the reference driver in memory as programs of a real cluster. Its backend is one process,
// which is also the controller plugin; the plugin on a node passes its calls to the backend, which has that plugin do
// the mounts on its node.
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

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/mock"
)

// Metadata of a call that a node passes to the backend.
const (
	nodeKey   = "csisim-node-id"
	mountsKey = "csisim-mounts-at"
	tokenKey  = "csisim-token"
	zoneKey   = "csisim-zone"
)

// Backend is the storage system of a cluster.
type Backend struct {
	// Options are those of the driver.
	Options mock.Options
	// Socket is the controller plugin's, Address where nodes reach the backend.
	Socket, Address string
	// Token is what nodes have to bear, and the backend bears to them.
	Token string

	driver *mock.Driver
	mu     sync.Mutex
	nodes  map[string]*mock.Node // by node id and address of the node
}

// Serve serves until ctx ends.
func (b *Backend) Serve(ctx context.Context) error {
	if err := b.Options.Validate(); err != nil {
		return err
	}
	b.driver, b.nodes = mock.New(b.Options), map[string]*mock.Node{}
	controller := b.driver.Controller()
	local := grpc.NewServer()
	csi.RegisterIdentityServer(local, controller)
	csi.RegisterControllerServer(local, controller)
	csi.RegisterGroupControllerServer(local, controller)
	csi.RegisterNodeServer(local, controller)
	remote := grpc.NewServer(grpc.UnknownServiceHandler(b.ofNode))
	return serve(ctx, listening{local, "unix", b.Socket}, listening{remote, "tcp", b.Address})
}

// listening is a server and where it serves.
type listening struct {
	server           *grpc.Server
	network, address string
}

// serve serves until ctx ends, or one of the servers does.
func serve(ctx context.Context, all ...listening) error {
	ended := make(chan error, len(all))
	for _, l := range all {
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
		go func() { ended <- l.server.Serve(listener) }()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// ofNode answers a call that a node has passed on.
func (b *Backend) ofNode(_ any, stream grpc.ServerStream) error {
	fullMethod, _ := grpc.MethodFromServerStream(stream)
	given, _ := metadata.FromIncomingContext(stream.Context())
	if first(given, tokenKey) != b.Token {
		return status.Error(codes.PermissionDenied, "the token is missing or wrong")
	}
	node := b.node(first(given, nodeKey), first(given, mountsKey), first(given, zoneKey))
	service, method, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	for _, desc := range []grpc.ServiceDesc{csi.Identity_ServiceDesc, csi.Node_ServiceDesc} {
		for _, m := range desc.Methods {
			if desc.ServiceName == service && m.MethodName == method {
				answer, err := m.Handler(node, stream.Context(), stream.RecvMsg, nil)
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

// node is the driver's plugin on a node, whose mounts are done at an address.
func (b *Backend) node(id, mountsAt, zone string) *mock.Node {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := id + " " + mountsAt
	if b.nodes[key] == nil {
		o := mock.NodeOptions{NodeID: id, Mounter: remoteMounter{mountsAt, b.Token}}
		if zone != "" {
			o.Topology = map[string]string{cmp.Or(b.Options.TopologyKey, b.driver.Name()+"/zone"): zone}
		}
		b.nodes[key] = b.driver.Node(o)
		b.nodes[key].Restart()
	}
	return b.nodes[key]
}
