package wire_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// serveIn makes the test binary a driver program that serves on a machine's socket
// until its standard input ends.
const serveIn = "CSISIM_BENCH_SERVE_IN"

func init() {
	dir := os.Getenv(serveIn)
	if dir == "" {
		return
	}
	m, err := machine.NewDisk("node-a", dir)
	if err != nil {
		panic(err)
	}
	if _, err := m.BindSocket(socket, machine.Service{Desc: &csi.Node_ServiceDesc, Server: &server{}}); err != nil {
		panic(err)
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// program starts a driver in a separate process and returns the machine through which it is
// reached.
func program(b *testing.B) machine.Machine {
	dir, err := os.MkdirTemp("", "b")
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), serveIn+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	m, err := machine.NewDisk("node-a", dir)
	require.NoError(b, err)
	require.Eventually(b, func() bool { return serves(m) }, time.Minute, time.Millisecond)
	return m
}

// serves reports whether the program answers. Its socket exists before it listens.
func serves(m machine.Machine) bool {
	client, closer, err := m.DialSocket(socket)
	if err != nil {
		return false
	}
	defer closer.Close()
	_, err = csi.NewNodeClient(client).NodeStageVolume(context.Background(), stageRequest)
	return err == nil
}

var stageRequest = &csi.NodeStageVolumeRequest{
	VolumeId: "vol-0001", StagingTargetPath: "/var/lib/kubelet/plugins/kubernetes.io/csi/d/h/globalmount",
	VolumeContext: map[string]string{"storage.kubernetes.io/csiProvisionerIdentity": "1795208863964-9870-d"},
	VolumeCapability: &csi.VolumeCapability{
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	},
}

// BenchmarkSocket compares calls to a driver in another process: in a bare loop, and through the
// kernel and the wire with their records and checks.
func BenchmarkSocket(b *testing.B) {
	m := program(b)
	b.Run("bare", func(b *testing.B) {
		client, closer, err := m.DialSocket(socket)
		require.NoError(b, err)
		defer closer.Close()
		call(b, client, b.N)
	})
	b.Run("wire", func(b *testing.B) {
		k := kernel.New(kernel.Options{MaxStepsPerInstant: 1 << 60})
		defer k.Close()
		w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
		calls := wire.New(w)
		defer calls.Close()
		k.Spawn(nil, "kubelet", func(p *kernel.Process) {
			call(b, calls.Conn(p, wire.Site{
				Caller: "kubelet", Driver: "d", Node: "node-a", Machine: m, Socket: socket, Deadline: time.Hour,
			}), b.N)
		})
		k.Run(kernel.Until{})
		require.NoError(b, k.Err())
	})
}

// BenchmarkShare measures the part of a call's time that csisim itself uses: bare calls to a driver
// in another process alternate with calls through the kernel and the wire. The median of the
// difference must stay below 0.2 ms.
func BenchmarkShare(b *testing.B) {
	m := program(b)
	bare, closer, err := m.DialSocket(socket)
	require.NoError(b, err)
	defer closer.Close()
	k := kernel.New(kernel.Options{MaxStepsPerInstant: 1 << 60})
	defer k.Close()
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	calls := wire.New(w)
	defer calls.Close()
	var shares []float64
	k.Spawn(nil, "kubelet", func(p *kernel.Process) {
		ours := calls.Conn(p, wire.Site{Caller: "kubelet", Driver: "d", Node: "node-a", Machine: m, Socket: socket, Deadline: time.Hour})
		for range b.N {
			began := time.Now()
			call(b, bare, 1)
			between := time.Now()
			call(b, ours, 1)
			shares = append(shares, float64(time.Since(between)-between.Sub(began))/float64(time.Millisecond))
		}
	})
	k.Run(kernel.Until{})
	require.NoError(b, k.Err())
	slices.Sort(shares)
	b.ReportMetric(shares[len(shares)/2], "share-ms")
}

func call(b *testing.B, client grpc.ClientConnInterface, n int) {
	node := csi.NewNodeClient(client)
	for range n {
		if _, err := node.NodeStageVolume(context.Background(), stageRequest); err != nil {
			b.Fatal(err)
		}
	}
}
