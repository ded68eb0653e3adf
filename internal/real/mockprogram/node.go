package mockprogram

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Node is the driver's plugin on a node.
type Node struct {
	// ID is the CSI node id, Zone the node's zone in the driver's topology.
	ID, Zone string
	// Socket is the plugin's.
	Socket string
	// Backend is the address of the backend.
	Backend string
	// Host is the address at which the backend reaches this plugin. The plugin serves mounts on any
	// port.
	Host string
	// Token is the backend's token.
	Token string
	// Volumes is the directory of this node with the content of volumes.
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
	return passing{n.Socket, n.Backend, []string{nodeKey, n.ID, mountsKey, mounts.Addr().String(), tokenKey, n.Token, zoneKey, n.Zone}}.serve(ctx)
}
