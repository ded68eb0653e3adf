package profile_test

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// TestMain: the test binary is also the driver of the scenarios.
func TestMain(m *testing.M) {
	if os.Getenv("TINY_DRIVER") != "" {
		serveTinyDriver()
		return
	}
	namespaces.Enter()
	os.Exit(m.Run())
}

// tinyDriver mounts the source in a volume's attributes with mount(8).
type tinyDriver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	csi.UnimplementedNodeServer
	node string
}

func serveTinyDriver() {
	endpoint := flag.String("endpoint", "", "")
	node := flag.String("node", "", "")
	flag.Parse()
	socket := strings.TrimPrefix(*endpoint, "unix://")
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	server, driver := grpc.NewServer(), &tinyDriver{node: *node}
	csi.RegisterIdentityServer(server, driver)
	csi.RegisterControllerServer(server, driver)
	csi.RegisterNodeServer(server, driver)
	panic(server.Serve(listener))
}

func (*tinyDriver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: "tiny.example.com", VendorVersion: "1"}, nil
}

func (*tinyDriver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{}, nil
}

func (*tinyDriver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func (*tinyDriver) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{}, nil
}

func (d *tinyDriver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.node}, nil
}

func (*tinyDriver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (*tinyDriver) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if err := os.MkdirAll(r.TargetPath, 0o755); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	out, err := exec.Command("mount", "-t", r.VolumeContext["type"], r.VolumeContext["source"], r.TargetPath).CombinedOutput()
	if err != nil {
		return nil, status.Errorf(codes.Internal, "%v: %s", err, out)
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (*tinyDriver) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	out, err := exec.Command("umount", r.TargetPath).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "not mounted") {
		return nil, status.Errorf(codes.Internal, "%v: %s", err, out)
	}
	if err := os.Remove(r.TargetPath); err != nil && !os.IsNotExist(err) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

const tinyProfile = `
apiVersion: csisim.dev/v1alpha1
kind: DriverProfile
driver: tiny.example.com
binary: {name: tinyplugin}
arguments: ['--endpoint={{.Endpoint}}', '--node={{.NodeID}}']
env: {TINY_DRIVER: "1"}
csiDriver: {attachRequired: false}
standIns:
`

const (
	nfsServer = "  nfs: {server: nfs.example.com, exports: [/export]}\n"
	cloud     = "  openstack: {}\n"
)

const tinyScenario = `
apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers: [{profile: ./tiny.yaml, binary: BINARY}]
objects: |
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: share}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteMany]
    storageClassName: ""
    csi: {driver: tiny.example.com, volumeHandle: share, volumeAttributes: {type: TYPE, source: 'SOURCE'}}
  ---
  apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}, storageClassName: "", volumeName: share}
  ---
  apiVersion: v1
  kind: Pod
  metadata: {name: web}
  spec:
    nodeSelector: {kubernetes.io/hostname: node-a}
    containers: [{name: c, image: registry.local/sleep:1, volumeMounts: [{name: data, mountPath: /data}]}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
steps:
`

// runTiny runs a scenario with the driver of this file.
func runTiny(t *testing.T, standIn, kind, source, steps string) *scenario.Result {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tinyProfile+standIn), 0o600))
	binary, err := os.Executable()
	require.NoError(t, err)
	text := strings.NewReplacer("BINARY", binary, "TYPE", kind, "SOURCE", source).Replace(tinyScenario) + steps
	s, err := scenario.Parse(filepath.Join(dir, "x.yaml"), []byte(text))
	require.NoError(t, err)
	work := t.TempDir()
	before, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{WorkDir: work})
	require.NoError(t, err)
	after, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "no mount is left")
	left, err := os.ReadDir(work)
	require.NoError(t, err)
	assert.Empty(t, left, "no file is left")
	return result
}

// messages joins the messages of the calls and events of a run.
func messages(r *scenario.Result) string {
	var all []string
	for _, e := range r.Trace {
		all = append(all, e.Message)
	}
	return strings.Join(all, "\n")
}

func failures(r *scenario.Result) string {
	var all []string
	for _, f := range r.Failures {
		all = append(all, f.Text(r.Names))
	}
	return strings.Join(all, "\n")
}

func TestADriverMountsNFSThroughMount8(t *testing.T) {
	result := runTiny(t, nfsServer, "nfs", "nfs.example.com:/export", `
- wait: {pod: web, phase: Running}
- power-off: node-a
- power-on: node-a
- wait: {call: NodePublishVolume, code: OK, count: 2}
- delete: {pod: web}
- wait: {pod: web, gone: true}
expect:
  calls: [NodePublishVolume, NodePublishVolume, NodeUnpublishVolume]
`)
	assert.Empty(t, failures(result))
}

func TestADriverGetsTheRefusalsOfTheNFSServer(t *testing.T) {
	result := runTiny(t, nfsServer, "nfs", "nfs.example.com:/import", `
- wait: {call: NodePublishVolume, code: Internal}
- delete: {pod: web}
expect:
  calls: [{call: NodePublishVolume, code: Internal}]
`)
	assert.Empty(t, failures(result))
	assert.Contains(t, messages(result), "mounting nfs.example.com:/import failed, reason given by server: No such file or directory")
}

func TestAServiceFailsAsInTheScenario(t *testing.T) {
	result := runTiny(t, nfsServer, "nfs", "nfs.example.com:/export", `
- fail-service: {operation: mount, times: 1, message: "Connection refused for %s"}
- wait: {pod: web, phase: Running}
- delete: {pod: web}
- wait: {pod: web, gone: true}
expect:
  calls:
  - {call: NodePublishVolume, code: Internal}
  - {call: NodePublishVolume, code: OK}
  - NodeUnpublishVolume
`)
	assert.Empty(t, failures(result))
	assert.Contains(t, messages(result), "mount.nfs: Connection refused for nfs.example.com:/export")
}

func TestACloudStartsAndEndsWithARun(t *testing.T) {
	result := runTiny(t, cloud, "iso9660", "/dev/disk/by-label/config-2", `
- fail-service: {operation: attach, times: 1}
- wait: {pod: web, phase: Running}
- power-off: node-a
- power-on: node-a
- wait: {call: NodePublishVolume, code: OK, count: 2}
- recover-services: {}
- delete: {pod: web}
- wait: {pod: web, gone: true}
`)
	assert.Empty(t, failures(result))
}
