package pluginmanager_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/fakekubelet/internal/pluginmanager"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	nodeName    = "node-a"
	regDriver   = "reg.csi.example.com"
	endpoint    = machine.KubeletDir + "/plugins/" + regDriver + "/csi.sock"
	registryDir = machine.KubeletDir + "/plugins_registry"
	regSocket   = registryDir + "/" + regDriver + "-reg.sock"
	zone        = "topology.csi.example.com/zone"
	nodeIDs     = "csi.volume.kubernetes.io/nodeid"
)

// world is an API server and node-a with its kubelet's plugin manager.
type world struct {
	*component.World
	t       *testing.T
	machine machine.Machine
	wire    *wire.Wire
	kubelet *component.Component
	plugins *pluginmanager.Manager
}

func newWorld(t *testing.T) *world { return worldOn(t, machine.NewMemory(nodeName), kernel.Calm{}) }

func worldOn(t *testing.T, m machine.Machine, s kernel.Strategy) *world {
	k := kernel.New(kernel.Options{Strategy: s, Patience: time.Minute})
	w := &world{t: t, machine: m, World: component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))}
	w.wire = wire.New(w.World)
	t.Cleanup(func() {
		w.wire.Close()
		k.Close()
		require.NoError(t, m.Close())
	})
	_, err := store.Create(w.Store, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}})
	require.NoError(t, err)
	w.startKubelet()
	return w
}

// startKubelet starts the kubelet, with passes at whole seconds.
func (w *world) startKubelet() {
	w.kubelet = w.Start("kubelet", nodeName)
	info := nodeinfo.Start(w.kubelet, nil)
	w.until(w.Kernel.Elapsed().Truncate(time.Second) + time.Second)
	w.plugins = pluginmanager.Start(w.kubelet, w.machine, w.wire, info)
	w.quiet()
}

func (w *world) until(at time.Duration) {
	w.t.Helper()
	require.NotEqual(w.t, kernel.Failed, w.Kernel.Run(kernel.Until{At: at}), w.Kernel.Err())
}

func (w *world) forth(d time.Duration) { w.until(w.Kernel.Elapsed() + d) }

func (w *world) quiet() {
	w.t.Helper()
	require.Equal(w.t, kernel.Quiet, w.Kernel.Run(kernel.Until{StopWhenQuiet: true}), w.Kernel.Err())
}

// startRegistrar starts a registrar that is not restarted.
func (w *world) startRegistrar(socket string) *registrar.Registrar {
	r := registrar.New(w.World, w.wire, registrar.Options{
		Node: nodeName, Machine: w.machine, Endpoint: socket,
		RestartDelay: func(int) time.Duration { return -1 },
	})
	r.Start()
	return r
}

func (w *world) node() *corev1.Node {
	n, ok := store.Get[*corev1.Node](w.Store, store.Key{Name: nodeName})
	require.True(w.t, ok)
	return n
}

// entries returns the drivers in the CSINode.
func (w *world) entries() []storagev1.CSINodeDriver {
	n, ok := store.Get[*storagev1.CSINode](w.Store, store.Key{Name: nodeName})
	require.True(w.t, ok)
	return n.Spec.Drivers
}

// story lists calls, handshakes and API changes after event number after, each with its second.
func (w *world) story(after uint64) []string {
	var lines []string
	for _, e := range w.Trace.Events() {
		if e.Seq <= after {
			continue
		}
		line := fmt.Sprintf("%gs ", e.At.Round(time.Millisecond).Seconds())
		switch e.Kind {
		case trace.Call, trace.Registration:
			line += e.Actor + " " + e.Method
			if e.Code != "" {
				line += " " + e.Code
			}
			if verdict, ok := e.Request.(*registration.RegistrationStatus); ok {
				line += fmt.Sprintf(" %v", verdict.PluginRegistered)
			}
		case trace.API:
			line += e.Change + " " + e.Resource
		default:
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// calls returns the calls of a method so far.
func (w *world) calls(method string) []*trace.Event {
	var found []*trace.Event
	for _, e := range w.Trace.Events() {
		if e.Method == method && (e.Kind == trace.Call || e.Kind == trace.Registration) {
			found = append(found, e)
		}
	}
	return found
}

// times returns the times of a method's calls, in seconds.
func (w *world) times(method string) []float64 {
	var at []float64
	for _, e := range w.calls(method) {
		at = append(at, e.At.Round(time.Millisecond).Seconds())
	}
	return at
}

// driver is the node plugin of a CSI driver.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
	name     string
	nodeID   string
	limit    int64
	topology map[string]string
}

// serveDriver binds reg.csi.example.com at socket.
func (w *world) serveDriver(socket string) *driver {
	d := &driver{name: regDriver, nodeID: nodeName, limit: 7, topology: map[string]string{zone: nodeName}}
	w.bind(socket, machine.Service{Desc: &csi.Identity_ServiceDesc, Server: d}, machine.Service{Desc: &csi.Node_ServiceDesc, Server: d})
	return d
}

func (w *world) bind(socket string, services ...machine.Service) machine.Listener {
	l, err := w.machine.BindSocket(socket, services...)
	require.NoError(w.t, err)
	return l
}

func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.name, VendorVersion: "0.1"}, nil
}

func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	info := &csi.NodeGetInfoResponse{NodeId: d.nodeID, MaxVolumesPerNode: d.limit}
	if d.topology != nil {
		info.AccessibleTopology = &csi.Topology{Segments: d.topology}
	}
	return info, nil
}

// plugin is the server of a registration socket; it never exits.
type plugin struct {
	registration.UnimplementedRegistrationServer
	machine.Listener
	info     *registration.PluginInfo
	deaf     bool // to verdicts
	verdicts []*registration.RegistrationStatus
}

// servePlugin binds a registration socket that offers the driver at endpoint.
func (w *world) servePlugin(socket string, versions ...string) *plugin {
	p := &plugin{info: &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: regDriver, Endpoint: endpoint, SupportedVersions: versions,
	}}
	w.present(socket, p)
	return p
}

func (w *world) present(socket string, p *plugin) {
	p.Listener = w.bind(socket, machine.Service{Desc: &registration.Registration_ServiceDesc, Server: p})
}

func (p *plugin) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return p.info, nil
}

func (p *plugin) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if p.deaf {
		return nil, status.Error(codes.Internal, "deaf")
	}
	p.verdicts = append(p.verdicts, s)
	return &registration.RegistrationStatusResponse{}, nil
}

func newWorldWith(t *testing.T, s kernel.Strategy) *world {
	return worldOn(t, machine.NewMemory(nodeName), s)
}
