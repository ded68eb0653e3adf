package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// asDriver makes the test binary behave like the command.
const asDriver = "E2EMOCK_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asDriver) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the command on a socket until the test ends.
func start(t *testing.T, args ...string) *grpc.ClientConn {
	socket := filepath.Join(t.TempDir(), "csi.sock")
	driver := exec.Command("/proc/self/exe", append(args, "--endpoint", "unix://"+socket)...)
	driver.Env = append(os.Environ(), asDriver+"=1")
	driver.Stderr = os.Stderr
	driver.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, driver.Start())

	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1, MaxDelay: 5 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		require.NoError(t, driver.Process.Signal(syscall.SIGTERM))
		require.NoError(t, driver.Wait())
		require.NoFileExists(t, socket)
	})
	return conn
}

func TestIdentifiesItselfOverTheSocket(t *testing.T) {
	tests := map[string]struct {
		args         []string
		name, nodeID string
		limit        int64
	}{
		"by default the node id is the driver's name": {
			name: "io.kubernetes.storage.mock", nodeID: "io.kubernetes.storage.mock",
		},
		"name, node id and attach limit can be given": {
			args: []string{"--name", "mock.example", "--node-id", "node-a", "--attach-limit", "2"},
			name: "mock.example", nodeID: "node-a", limit: 2,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			conn := start(t, tt.args...)

			plugin, err := csi.NewIdentityClient(conn).GetPluginInfo(t.Context(), &csi.GetPluginInfoRequest{})
			require.NoError(t, err)
			assert.Equal(t, tt.name, plugin.GetName())

			info, err := csi.NewNodeClient(conn).NodeGetInfo(t.Context(), &csi.NodeGetInfoRequest{})
			require.NoError(t, err)
			assert.Equal(t, tt.nodeID, info.GetNodeId())
			assert.Equal(t, tt.limit, info.GetMaxVolumesPerNode())
		})
	}
}

func TestAttachesToTheReportedNodeOnly(t *testing.T) {
	conn := start(t, "--name", "mock.example", "--node-id", "node-a")
	controller := csi.NewControllerClient(conn)
	capability := &csi.VolumeCapability{
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	}
	attach := func(node string) error {
		_, err := controller.ControllerPublishVolume(t.Context(), &csi.ControllerPublishVolumeRequest{
			VolumeId: "1", NodeId: node, VolumeCapability: capability,
		})
		return err
	}
	assert.NoError(t, attach("node-a"))
	assert.Equal(t, codes.NotFound, status.Code(attach("node-b")))
	assert.Equal(t, codes.NotFound, status.Code(attach("mock.example")))
}

func TestStagingCanBeSwitchedOff(t *testing.T) {
	node := csi.NewNodeClient(start(t, "--disable-stage"))

	offered, err := node.NodeGetCapabilities(t.Context(), &csi.NodeGetCapabilitiesRequest{})
	require.NoError(t, err)
	for _, c := range offered.GetCapabilities() {
		assert.NotEqual(t, csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME, c.GetRpc().GetType())
	}
	_, err = node.NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{})
	assert.Equal(t, codes.Unimplemented, status.Code(err))
}

// TestTheDriverPassesTheLifeOfAVolume runs the command of the main module on
// this driver as an external program over a real socket.
func TestTheDriverPassesTheLifeOfAVolume(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./cmd/csisim")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command("go", "build", "-o", filepath.Join(bin, "e2emock"), ".").CombinedOutput()
	require.NoError(t, err, string(out))

	run := exec.Command(filepath.Join(bin, "csisim"), "run", "testdata/lifecycle.yaml", "testdata/errors.yaml")
	run.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err = run.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "2 passed, 0 failed")
}
