package proxy_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/csisim/csisim/cmd/internal/proxy"
)

// worker is a driver that works for a while on each call.
type worker struct {
	csi.UnimplementedNodeServer
	csi.UnimplementedIdentityServer
	time time.Duration
}

func (w worker) NodeStageVolume(context.Context, *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	time.Sleep(w.time)
	return &csi.NodeStageVolumeResponse{}, nil
}

func (worker) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// BenchmarkCallOfAMillisecond has a call with the proxy and without, side by side.
func BenchmarkCallOfAMillisecond(b *testing.B) {
	dir := b.TempDir()
	listener, err := net.Listen("unix", dir+"/driver.sock")
	require.NoError(b, err)
	server := grpc.NewServer()
	csi.RegisterNodeServer(server, worker{time: time.Millisecond})
	csi.RegisterIdentityServer(server, worker{})
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- proxy.Run(ctx, proxy.Options{
			Driver: "d", Node: "node-a", Upstream: dir + "/driver.sock", Records: dir + "/records", Listen: map[string]string{"kubelet": dir + "/csi.sock"},
		})
	}()
	defer func() { end(); <-ended }()
	for _, way := range []struct{ name, socket string }{{"direct", "/driver.sock"}, {"proxied", "/csi.sock"}, {"direct again", "/driver.sock"}, {"proxied again", "/csi.sock"}} {
		b.Run(way.name, func(b *testing.B) {
			conn, err := grpc.NewClient("unix://"+dir+way.socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
			require.NoError(b, err)
			defer conn.Close()
			require.Eventually(b, func() bool {
				_, err := csi.NewIdentityClient(conn).Probe(ctx, &csi.ProbeRequest{})
				return err == nil
			}, 20*time.Second, 10*time.Millisecond)
			client := csi.NewNodeClient(conn)
			for b.Loop() {
				_, err := client.NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: "/var/lib/kubelet/plugins/kubernetes.io/csi/d/1/globalmount"})
				require.NoError(b, err)
			}
		})
	}
}
