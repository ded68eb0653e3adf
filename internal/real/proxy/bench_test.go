package proxy_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/csisim/csisim/internal/real/proxy"
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

// BenchmarkCallOfAMillisecond alternates calls with and without the proxy, so that the load of the
// machine affects both, and compares their medians.
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
	direct, proxied := client(b, dir+"/driver.sock"), client(b, dir+"/csi.sock")
	var without, with []time.Duration
	for b.Loop() {
		without = append(without, timed(b, direct))
		with = append(with, timed(b, proxied))
	}
	b.ReportMetric(float64(median(without).Nanoseconds()), "direct-ns")
	b.ReportMetric(float64(median(with).Nanoseconds()), "proxied-ns")
	b.ReportMetric(float64(median(with))/float64(median(without)), "proxied/direct")
}

// client returns a client of a server that answers.
func client(b *testing.B, socket string) csi.NodeClient {
	b.Helper()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	require.Eventually(b, func() bool {
		_, err := csi.NewIdentityClient(conn).Probe(b.Context(), &csi.ProbeRequest{})
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	return csi.NewNodeClient(conn)
}

func timed(b *testing.B, c csi.NodeClient) time.Duration {
	b.Helper()
	began := time.Now()
	_, err := c.NodeStageVolume(b.Context(), &csi.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: "/var/lib/kubelet/plugins/kubernetes.io/csi/d/1/globalmount"})
	require.NoError(b, err)
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
