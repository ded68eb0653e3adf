package machine_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/machine"
)

const socket = "/var/lib/kubelet/plugins/d/csi.sock"

// node is a CSI node service with behaviour set by the test.
type node struct {
	csi.UnimplementedNodeServer
	stage func(context.Context, *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error)
	info  *csi.NodeGetInfoResponse
}

func (n *node) NodeStageVolume(ctx context.Context, r *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	return n.stage(ctx, r)
}

func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return n.info, nil
}

func serve(t *testing.T, m machine.Machine, n *node) machine.Listener {
	l, err := m.BindSocket(socket, machine.Service{Desc: &csi.Node_ServiceDesc, Server: n})
	require.NoError(t, err)
	return l
}

func dial(t *testing.T, m machine.Machine) grpc.ClientConnInterface {
	conn, closer, err := m.DialSocket(socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = closer.Close() })
	return conn
}

func stage(conn grpc.ClientConnInterface) error {
	_, err := csi.NewNodeClient(conn).NodeStageVolume(context.Background(), &csi.NodeStageVolumeRequest{})
	return err
}

func TestCallsReachTheServer(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		serve(t, m, &node{info: &csi.NodeGetInfoResponse{NodeId: "id-1"}})
		info, err := csi.NewNodeClient(dial(t, m)).NodeGetInfo(context.Background(), &csi.NodeGetInfoRequest{})
		require.NoError(t, err)
		assert.Equal(t, "id-1", info.GetNodeId())

		stat, err := m.Lstat(socket)
		require.NoError(t, err)
		assert.Equal(t, "Srwxr-xr-x", stat.Mode().String())
	})
}

func TestErrorsAreThoseOfGRPC(t *testing.T) {
	cases := []struct {
		name  string
		given error
		code  codes.Code
		text  string
	}{
		{"a status", status.Error(codes.FailedPrecondition, "in use"), codes.FailedPrecondition, "in use"},
		{"a plain error", errors.New("oops"), codes.Unknown, "oops"},
		{"a deadline of the server's own", context.DeadlineExceeded, codes.DeadlineExceeded, "context deadline exceeded"},
	}
	onEach(t, func(t *testing.T, m machine.Machine) {
		n := &node{}
		serve(t, m, n)
		conn := dial(t, m)
		for _, c := range cases {
			n.stage = func(context.Context, *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
				return nil, c.given
			}
			err := stage(conn)
			assert.Equal(t, c.code, status.Code(err), c.name)
			assert.Equal(t, c.text, status.Convert(err).Message(), c.name)
		}
	})
}

func TestUnknownCallsAreUnimplemented(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		serve(t, m, &node{})
		conn := dial(t, m)
		_, err := csi.NewIdentityClient(conn).Probe(context.Background(), &csi.ProbeRequest{})
		assert.Equal(t, "unknown service csi.v1.Identity", status.Convert(err).Message())
		assert.Equal(t, codes.Unimplemented, status.Code(err))
		err = conn.Invoke(context.Background(), "/csi.v1.Node/No", &csi.ProbeRequest{}, &csi.ProbeResponse{})
		assert.Equal(t, "unknown method No for service csi.v1.Node", status.Convert(err).Message())
	})
}

func TestNeitherSideCanChangeTheOthersMessages(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		n := &node{info: &csi.NodeGetInfoResponse{AccessibleTopology: &csi.Topology{Segments: map[string]string{"zone": "a"}}}}
		n.stage = func(_ context.Context, r *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
			r.VolumeContext["k"] = "changed by the server"
			return &csi.NodeStageVolumeResponse{}, nil
		}
		serve(t, m, n)
		client := csi.NewNodeClient(dial(t, m))

		request := &csi.NodeStageVolumeRequest{VolumeContext: map[string]string{"k": "v"}}
		_, err := client.NodeStageVolume(context.Background(), request)
		require.NoError(t, err)
		assert.Equal(t, "v", request.VolumeContext["k"])

		info, err := client.NodeGetInfo(context.Background(), &csi.NodeGetInfoRequest{})
		require.NoError(t, err)
		info.AccessibleTopology.Segments["zone"] = "changed by the client"
		assert.Equal(t, "a", n.info.AccessibleTopology.Segments["zone"])
	})
}

type secretKey struct{}

func TestServerSeesMetadataAndDeadlineButNoValues(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		n := &node{}
		n.stage = func(ctx context.Context, _ *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
			md, _ := metadata.FromIncomingContext(ctx)
			assert.Equal(t, []string{"v"}, md.Get("k"))
			assert.Nil(t, ctx.Value(secretKey{}))
			method, _ := grpc.Method(ctx)
			assert.Equal(t, csi.Node_NodeStageVolume_FullMethodName, method)
			assert.NoError(t, grpc.SetHeader(ctx, metadata.Pairs("h", "1")))
			return &csi.NodeStageVolumeResponse{}, nil
		}
		serve(t, m, n)
		ctx := metadata.AppendToOutgoingContext(context.WithValue(context.Background(), secretKey{}, 1), "k", "v")
		var header metadata.MD
		_, err := csi.NewNodeClient(dial(t, m)).NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{}, grpc.Header(&header))
		require.NoError(t, err)
		assert.Equal(t, []string{"1"}, header.Get("h"))
	})
}

func TestCancelledCallEndsAsCanceled(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		ctx, cancel := context.WithCancel(context.Background())
		n := &node{}
		n.stage = func(ctx context.Context, _ *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
			cancel()
			<-ctx.Done()
			return &csi.NodeStageVolumeResponse{}, nil
		}
		serve(t, m, n)
		_, err := csi.NewNodeClient(dial(t, m)).NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{})
		assert.Equal(t, codes.Canceled, status.Code(err))
	})
}

func TestDialFailsFastInTheWordsOfGRPC(t *testing.T) {
	const dialing = `connection error: desc = "transport: Error while dialing: dial unix ` + socket + `: connect: `
	onEach(t, func(t *testing.T, m machine.Machine) {
		conn := dial(t, m)
		expect := func(cause string) {
			t.Helper()
			err := stage(conn)
			assert.Equal(t, codes.Unavailable, status.Code(err))
			assert.Equal(t, dialing+cause+`"`, status.Convert(err).Message())
		}
		expect("no such file or directory")

		l := serve(t, m, &node{})
		assert.Equal(t, codes.OK, status.Code(getInfo(conn)), "the next call dials afresh")
		l.Abandon()
		_, err := m.Lstat(socket)
		require.NoError(t, err, "a crash leaves the socket's file")
		assert.Equal(t, codes.Unavailable, status.Code(getInfo(conn)))
		expect("connection refused")

		_, err = m.BindSocket(socket)
		require.ErrorIs(t, err, syscall.EADDRINUSE)
		require.NoError(t, m.Remove(socket))
		l = serve(t, m, &node{})
		require.NoError(t, getInfo(conn))
		require.NoError(t, l.Close())
		require.NoError(t, l.Close())
		_, err = m.Lstat(socket)
		assert.ErrorIs(t, err, syscall.ENOENT, "a clean shutdown removes it")
	})
}

// K-RPC-2: a server without its socket's file is unreachable, although it runs and its last calls
// continue.
func TestTheServerIsTheOneAtThePath(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		begun, end := make(chan bool), make(chan bool)
		first := &node{info: &csi.NodeGetInfoResponse{NodeId: "first"}}
		first.stage = func(context.Context, *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
			close(begun)
			<-end
			return &csi.NodeStageVolumeResponse{}, nil
		}
		serve(t, m, first)
		conn := dial(t, m)
		require.NoError(t, getInfo(conn))
		staged := make(chan error)
		go func() { staged <- stage(conn) }()
		<-begun

		require.NoError(t, m.Remove(socket))
		assert.ErrorContains(t, getInfo(conn), "no such file or directory")
		serve(t, m, &node{info: &csi.NodeGetInfoResponse{NodeId: "second"}})
		info, err := csi.NewNodeClient(conn).NodeGetInfo(context.Background(), &csi.NodeGetInfoRequest{})
		require.NoError(t, err)
		assert.Equal(t, "second", info.GetNodeId())

		close(end)
		assert.NoError(t, <-staged, "the call under way returns")
	})
}

func getInfo(conn grpc.ClientConnInterface) error {
	_, err := csi.NewNodeClient(conn).NodeGetInfo(context.Background(), &csi.NodeGetInfoRequest{})
	return err
}

func TestPowerOffEndsServersAndKeepsTheirFiles(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		serve(t, m, &node{})
		require.NoError(t, m.PowerOff())
		err := stage(dial(t, m))
		assert.Contains(t, err.Error(), "connection refused")
		assert.NoError(t, m.Remove(socket))
	})
}

func TestClosedClientFailsAsCanceled(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		serve(t, m, &node{})
		conn, closer, err := m.DialSocket(socket)
		require.NoError(t, err)
		require.NoError(t, closer.Close())
		assert.Equal(t, codes.Canceled, status.Code(stage(conn)))
		assert.Equal(t, "grpc: the client connection is closing", status.Convert(stage(conn)).Message())
	})
}

func TestTheErrorOfAnOverlongSocketPathNamesARemedy(t *testing.T) {
	d, err := machine.NewDisk("node-1", filepath.Join(shortDir(t), strings.Repeat("x", 90)))
	require.NoError(t, err)
	defer d.Close()

	_, err = d.BindSocket(socket)
	var tooLong *machine.SocketPathError
	require.ErrorAs(t, err, &tooLong)
	assert.Equal(t, d.Path(socket), tooLong.Path)
	assert.ErrorContains(t, err, "the limit is 107: choose a shorter work directory")
	_, _, err = d.DialSocket(socket)
	assert.ErrorAs(t, err, &tooLong)
}
