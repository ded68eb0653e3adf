package registrar_test

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/drivers/fault"
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
	name     = "reg.csi.example.com"
	endpoint = machine.KubeletDir + "/plugins/" + name + "/csi.sock"
	socket   = machine.KubeletDir + "/plugins_registry/" + name + "-reg.sock"
)

// world is a node without a kubelet; the tests play the kubelet.
type world struct {
	*component.World
	t       *testing.T
	machine *machine.Memory
	wire    *wire.Wire
}

func newWorld(t *testing.T) *world {
	k := kernel.New(kernel.Options{})
	w := &world{t: t, machine: machine.NewMemory("node-a"), World: component.NewWorld(k, kind.NewStore(store.Options{}), trace.NewRecorder(k))}
	w.wire = wire.New(w.World)
	t.Cleanup(func() { w.wire.Close(); k.Close() })
	return w
}

func (w *world) start(delay func(int) time.Duration) *registrar.Registrar {
	return w.startWith(registrar.Options{RestartDelay: delay})
}

func (w *world) startWith(o registrar.Options) *registrar.Registrar {
	o.Node, o.Machine, o.Endpoint = "node-a", w.machine, endpoint
	r := registrar.New(w.World, w.wire, o)
	r.Start()
	return r
}

func (w *world) serveDriver(name string) {
	_, err := w.machine.BindSocket(endpoint, machine.Service{Desc: &csi.Identity_ServiceDesc, Server: identity{name: name}})
	require.NoError(w.t, err)
}

func (w *world) quiet() {
	w.t.Helper()
	require.Equal(w.t, kernel.Quiet, w.Kernel.Run(kernel.Until{StopWhenQuiet: true}), w.Kernel.Err())
}

func (w *world) until(at time.Duration) { w.Kernel.Run(kernel.Until{At: at}) }

// kubelet returns a client of the registration socket.
func (w *world) kubelet() registration.RegistrationClient {
	client, _, err := w.machine.DialSocket(socket)
	require.NoError(w.t, err)
	return registration.NewRegistrationClient(client)
}

func (w *world) verdict(registered bool) {
	_, err := w.kubelet().NotifyRegistrationStatus(w.t.Context(), &registration.RegistrationStatus{PluginRegistered: registered, Error: "why"})
	require.NoError(w.t, err)
	w.Kernel.Run(kernel.Until{At: w.Kernel.Elapsed() + time.Millisecond})
}

// asked returns the times of the GetPluginInfo calls, in seconds.
func (w *world) asked() []float64 {
	var at []float64
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.Call {
			assert.Equal(w.t, "Identity/GetPluginInfo", e.Method)
			assert.Equal(w.t, "registrar", e.Actor)
			assert.Equal(w.t, "node-a", e.Node)
			at = append(at, e.At.Round(100*time.Millisecond).Seconds())
		}
	}
	return at
}

func (w *world) socketExists() bool {
	_, err := w.machine.Lstat(socket)
	return err == nil
}

type identity struct {
	csi.UnimplementedIdentityServer
	name string
}

func (i identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: i.name}, nil
}

// C-REG-1, C-REG-2, C-REG-3, C-REG-6: it registers the driver at its socket, and writes nothing to
// the API server.
func TestTheRegistrarOffersTheDriverUnderItsOwnName(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(name)
	r := w.start(nil)
	w.quiet()

	assert.Equal(t, socket, r.Socket())
	info, err := w.kubelet().GetInfo(t.Context(), &registration.InfoRequest{})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(&registration.PluginInfo{
		Type: "CSIPlugin", Name: name, Endpoint: endpoint, SupportedVersions: []string{"1.0.0"},
	}, info, protocmp.Transform()))

	assert.False(t, r.Registered())
	w.verdict(true)
	assert.True(t, r.Registered())
	for _, e := range w.Trace.Events() {
		assert.NotEqual(t, trace.API, e.Kind)
		assert.NotEqual(t, trace.KubeEvent, e.Kind)
	}
}

// C-LIB-1
func TestTheRegistrarWaitsForTheDriver(t *testing.T) {
	w := newWorld(t)
	r := w.start(nil)
	w.quiet()
	w.until(90 * time.Second)
	assert.Empty(t, w.asked())
	assert.Empty(t, r.Socket())
	assert.True(t, r.Running())

	w.serveDriver(name)
	w.quiet()
	assert.Equal(t, []float64{90}, w.asked())
	assert.True(t, w.socketExists())
}

// C-LIB-1: a dead driver's socket is tried again, ever more rarely.
func TestADeadDriversSocketIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	l, err := w.machine.BindSocket(endpoint)
	require.NoError(t, err)
	l.Abandon()
	w.start(nil)
	w.quiet()
	w.until(10 * time.Second)
	assert.Equal(t, []float64{0, 1, 3, 7}, w.asked())
	require.NoError(t, w.machine.Remove(endpoint))
	w.serveDriver(name)
	w.quiet()
	assert.True(t, w.socketExists())
}

// C-REG-4
func TestTerminationRemovesTheSocketAndKillingDoesNot(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(name)
	r := w.start(nil)
	w.quiet()
	r.Kill()
	assert.False(t, r.Running())
	info, err := w.machine.Lstat(socket)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSocket, info.Mode().Type())
	_, err = w.kubelet().GetInfo(t.Context(), &registration.InfoRequest{})
	assert.True(t, wire.NobodyListens(err))

	r.Start() // C-REG-2: a left-over socket is replaced
	w.quiet()
	_, err = w.kubelet().GetInfo(t.Context(), &registration.InfoRequest{})
	require.NoError(t, err)
	require.NoError(t, r.Stop())
	assert.False(t, w.socketExists())
	assert.False(t, r.Running())
	require.NoError(t, r.Stop(), "it is down already")
}

// C-REG-3, golden fact 18
func TestARefusedRegistrarExitsAndLeavesItsSocket(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(name)
	r := w.start(func(int) time.Duration { return -1 })
	w.quiet()
	w.verdict(false)
	assert.False(t, r.Running())
	assert.True(t, w.socketExists())
	_, err := w.kubelet().GetInfo(t.Context(), &registration.InfoRequest{})
	assert.True(t, wire.NobodyListens(err))
	events := w.Trace.Events()
	assert.Equal(t, "the registrar exits: the kubelet refuses the plugin: why", events[len(events)-1].Message)
}

func TestARegistrarThatStaysReceivesTheNextStatus(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(name)
	r := w.startWith(registrar.Options{StaysWhenRefused: true})
	w.quiet()
	w.verdict(false)
	assert.True(t, r.Running())
	assert.False(t, r.Registered())
	w.verdict(true)
	assert.True(t, r.Registered())
	w.verdict(false)
	assert.False(t, r.Registered())
	assert.Equal(t, []float64{0}, w.asked(), "it never exits")
}

func TestTheRegistrarRestartsWithTheBackoffOfACrashLoop(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(name)
	r := w.start(nil)
	w.quiet()
	for range 3 { // refused at once each time
		w.verdict(false)
		w.Kernel.Run(kernel.Until{StopWhenQuiet: true})
	}
	assert.Equal(t, []float64{0, 0, 10, 30}, w.asked())
	assert.True(t, r.Running())

	w.until(15 * time.Minute)
	w.verdict(false)
	assert.Equal(t, 900.0, w.asked()[4], "it ran long enough to begin anew")
}

// C-REG-2
func TestTheReasonsForTheRegistrarToExit(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(w *world)
		want    string
	}{
		"the driver fails": {
			func(w *world) {
				w.wire.Faults.Inject(&fault.Fault{Call: "GetPluginInfo", Effect: fault.Answer, Code: codes.Internal, Message: "no"})
			},
			"error retrieving the name of the CSI driver: rpc error: code = Internal desc = no",
		},
		"the driver hangs for its second": {
			func(w *world) { w.wire.Faults.Inject(&fault.Fault{Call: "GetPluginInfo", Effect: fault.Hang}) },
			"error retrieving the name of the CSI driver: rpc error: code = DeadlineExceeded desc = context deadline exceeded",
		},
		"a file is in the way": {
			func(w *world) {
				require.NoError(w.t, w.machine.MkdirAll(machine.KubeletDir+"/plugins_registry", 0o755))
				require.NoError(w.t, w.machine.WriteFile(socket, nil, 0o600))
			},
			"clean up the registration socket: " + socket + " is there and is no socket",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serveDriver("reg.csi.example.com")
			tt.prepare(w)
			r := w.start(func(int) time.Duration { return -1 })
			w.quiet()
			assert.False(t, r.Running())
			assert.LessOrEqual(t, w.Kernel.Elapsed(), time.Second, "C-REG-1: it waits for no answer longer than that")
			events := w.Trace.Events()
			assert.Equal(t, "the registrar exits: "+tt.want, events[len(events)-1].Message)
		})
	}
}

func TestADriverWithoutANameIsRefused(t *testing.T) {
	w := newWorld(t)
	w.serveDriver("")
	r := w.start(func(int) time.Duration { return -1 })
	w.quiet()
	assert.False(t, r.Running())
	assert.False(t, w.socketExists())
}
