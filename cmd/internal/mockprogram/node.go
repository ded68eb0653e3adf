package mockprogram

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/csisim/csisim/cmd/internal/proxy"
)

// Node is the driver's plugin on a node.
type Node struct {
	// ID is the CSI node id, Zone where the node lies in the driver's topology.
	ID, Zone string
	// Socket is the plugin's.
	Socket string
	// Backend is the address of the backend.
	Backend string
	// Host is where the backend reaches this plugin; it serves mounts at any port.
	Host string
	// Token is that of the backend.
	Token string
	// Volumes is the directory of this node with what volumes hold.
	Volumes string
}

// Serve serves until ctx ends.
func (n *Node) Serve(ctx context.Context) error {
	mounts, err := net.Listen("tcp", net.JoinHostPort(n.Host, "0"))
	if err != nil {
		return fmt.Errorf("listen for the backend: %w", err)
	}
	server := &http.Server{Handler: newMounts(n.Volumes, n.Token), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(mounts) }()
	defer server.Close()
	conn, err := grpc.NewClient("passthrough:///"+n.Backend, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	pass := func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		request, answer, err := proxy.Messages(method)
		if err != nil {
			return err
		}
		if err := stream.RecvMsg(request); err != nil {
			return err
		}
		to := metadata.AppendToOutgoingContext(stream.Context(), nodeKey, n.ID, mountsKey, mounts.Addr().String(), tokenKey, n.Token, zoneKey, n.Zone)
		if err := conn.Invoke(to, method, request, answer); err != nil {
			return err
		}
		return stream.SendMsg(answer)
	}
	return serve(ctx, listening{grpc.NewServer(grpc.UnknownServiceHandler(pass)), "unix", n.Socket})
}
