package sidecar_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/wrapperspb"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	driverName = "disk.csi.example.com"
	socket     = "/csi/csi.sock"
)

// pod is a driver's controller plugin and one sidecar that only connects to the driver.
type pod struct {
	t       *testing.T
	kernel  *kernel.Kernel
	wire    *wire.Wire
	world   *component.World
	machine *machine.Memory
	driver  *mock.Driver
	server  machine.Listener
	sidecar *sidecar.Program
	starts  []time.Duration
	met     []time.Duration
	knows   sidecar.Driver
	unready int // number of answers that the driver is not ready
}

// unready is a plugin that is not ready at first.
type unready struct {
	csi.IdentityServer
	left *int
}

func (u unready) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	if *u.left == 0 {
		return &csi.ProbeResponse{}, nil // an empty answer means ready
	}
	*u.left--
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(false)}, nil
}

func newPod(t *testing.T) *pod {
	k := kernel.New(kernel.Options{})
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	p := &pod{t: t, kernel: k, wire: wire.New(w), world: w, machine: machine.NewMemory("controller"), driver: mock.New(mock.Options{Name: driverName})}
	t.Cleanup(func() { k.Close(); p.wire.Close() })
	return p
}

func (p *pod) serve() {
	p.t.Helper()
	_ = p.machine.Remove(socket) // drivers do so at their start
	plugin := p.driver.Controller()
	var err error
	p.server, err = p.machine.BindSocket(socket,
		machine.Service{Desc: &csi.Identity_ServiceDesc, Server: unready{plugin, &p.unready}}, machine.Service{Desc: &csi.Controller_ServiceDesc, Server: plugin})
	require.NoError(p.t, err)
}

// kill leaves the socket behind.
func (p *pod) kill() {
	p.server.Abandon()
	p.sidecar.Disconnected()
}

func (p *pod) run(patience sidecar.Patience, once bool) {
	site := wire.Site{Caller: "sidecar", Driver: driverName, Machine: p.machine, Socket: socket}
	p.sidecar = sidecar.Run(p.world, sidecar.Flags{Restart: map[bool]sidecar.Restart{true: sidecar.RestartNever}[once]}, func(life *sidecar.Life) *component.Component {
		p.starts = append(p.starts, p.kernel.Elapsed())
		c := p.world.Start("sidecar", "")
		c.Go("main", func(process *kernel.Process) {
			p.knows = life.Connect(process, p.wire, site, patience)
			p.met = append(p.met, process.Elapsed())
			process.Wait("work", func() bool { return false })
		})
		return c
	})
}

func (p *pod) start() {
	p.run(sidecar.Patience{Probe: 15 * time.Second, Answer: time.Second, Together: true}, false)
}

func (p *pod) at(when time.Duration) {
	p.t.Helper()
	p.kernel.Run(kernel.Until{At: when})
	require.NoError(p.t, p.kernel.Err())
}

// calls returns the calls to the driver, with the seconds at which they were made.
func (p *pod) calls() (all []string) {
	for _, e := range p.world.Trace.Events() {
		if e.Kind == trace.Call {
			all = append(all, fmt.Sprintf("%g %s %s", e.At.Seconds(), e.Method[strings.IndexByte(e.Method, '/')+1:], cmp.Or(e.Code, "OK")))
		}
	}
	return all
}

func (p *pod) fault(call string, f fault.Fault) {
	f.Call = call
	p.wire.Faults.Inject(&f)
}

func seconds(at ...float64) (all []time.Duration) {
	for _, s := range at {
		all = append(all, time.Duration(s*float64(time.Second)))
	}
	return all
}

// C-LIB-1: the program has 30 s to connect, then it exits; the kubelet restarts it with growing
// delays.
func TestASidecarThatFindsNoDriverExitsAndIsRestarted(t *testing.T) {
	p := newPod(t)
	p.start()
	p.at(200 * time.Second)
	assert.Equal(t, seconds(0, 30, 70, 120, 190), p.starts, "at once, after 10 s, after 20 s, after 40 s, each after 30 s")
	assert.Empty(t, p.calls(), "a driver that does not listen is not called")
	p.serve()
	p.at(300 * time.Second)
	assert.Equal(t, seconds(201), p.met)
	assert.Equal(t, driverName, p.knows.Name)
}

// C-LIB-1: a pending restart does not keep a run busy.
func TestASidecarWithoutItsDriverIsQuiet(t *testing.T) {
	p := newPod(t)
	p.start()
	assert.Equal(t, kernel.Quiet, p.kernel.Run(kernel.Until{StopWhenQuiet: true}))
	assert.True(t, p.sidecar.Running())
	p.sidecar.Crash()
	p.at(time.Hour)
	assert.Equal(t, seconds(0), p.starts, "killed for good")
	assert.False(t, p.sidecar.Running())
}

// C-LIB-2, C-LIB-3: a driver that is not ready, or does not answer in time, is probed again each
// second. Then its capabilities are requested once.
func TestADriverIsProbedUntilItIsReady(t *testing.T) {
	p := newPod(t)
	p.serve()
	p.unready = 3
	p.start()
	p.at(time.Minute)
	assert.Equal(t, []string{"0 Probe OK", "1 Probe OK", "2 Probe OK", "3 Probe OK", "3 GetPluginInfo OK", "3 GetPluginCapabilities OK"}, p.calls()[:6])
	assert.Len(t, p.calls(), 7)
	assert.True(t, p.knows.Serves("CONTROLLER_SERVICE"))
	assert.True(t, p.knows.Can("CREATE_DELETE_VOLUME"))

	t.Run("slowly", func(t *testing.T) {
		p := newPod(t)
		p.serve()
		p.fault("Probe", fault.Fault{Effect: fault.Hang, Times: 2})
		p.start()
		p.at(time.Minute)
		assert.Equal(t, []string{"0 Probe DeadlineExceeded", "15 Probe DeadlineExceeded", "30 Probe OK"}, p.calls()[:3])
		assert.Equal(t, seconds(0), p.starts)
	})
}

// C-LIB-1, C-LIB-2: any other error while it begins ends the sidecar.
func TestAnErrorOfTheFirstQuestionsEndsTheSidecar(t *testing.T) {
	for _, call := range []string{"Probe", "GetPluginInfo", "GetPluginCapabilities", "ControllerGetCapabilities"} {
		t.Run(call, func(t *testing.T) {
			p := newPod(t)
			p.serve()
			p.fault(call, fault.Fault{Effect: fault.Answer, Code: codes.Internal, Message: "no", Times: 3})
			p.start()
			p.at(time.Minute)
			assert.Equal(t, seconds(0, 0, 10, 30), p.starts)
			assert.Equal(t, seconds(30), p.met)
		})
	}
	t.Run("for good", func(t *testing.T) {
		p := newPod(t)
		p.serve()
		p.fault("Probe", fault.Fault{Effect: fault.Answer, Code: codes.FailedPrecondition, Times: 1})
		p.run(sidecar.Patience{Probe: time.Second, Answer: time.Second}, true)
		p.at(time.Hour)
		assert.False(t, p.sidecar.Running())
		assert.Equal(t, seconds(0), p.starts)
	})
}

// C-ATT-1, C-HEALTH-2: requests with a shared deadline must all be answered before it.
func TestQuestionsMayShareADeadline(t *testing.T) {
	for _, together := range []bool{true, false} {
		p := newPod(t)
		p.serve()
		for _, call := range []string{"GetPluginInfo", "GetPluginCapabilities"} {
			p.fault(call, fault.Fault{Effect: fault.HoldAnswer, Delay: 600 * time.Millisecond, Times: 1})
		}
		p.run(sidecar.Patience{Probe: time.Second, Answer: time.Second, Together: together}, true)
		p.at(time.Minute)
		assert.Equal(t, !together, p.sidecar.Running(), "together: %v", together)
	}
}

// C-LIB-1: the end of its driver ends a sidecar, even without any calls. The sidecar is restarted
// at once and waits for the driver.
func TestASidecarThatLosesItsDriverExits(t *testing.T) {
	p := newPod(t)
	p.serve()
	p.start()
	p.at(5 * time.Second)
	require.Equal(t, seconds(0), p.met)
	p.kill()
	p.at(15 * time.Second)
	assert.Equal(t, seconds(0, 5.001), p.starts)
	p.serve()
	p.at(16*time.Second + time.Millisecond)
	assert.Equal(t, seconds(0, 15.001), p.met)

	p.kill()
	p.at(20 * time.Second)
	assert.True(t, p.sidecar.Running(), "it will be restarted")
	p.serve()
	p.at(time.Minute)
	assert.Equal(t, seconds(0, 5.001, 26.002), p.starts, "10 s after its second end")

	p.at(20 * time.Minute)
	p.kill()
	p.at(21 * time.Minute)
	assert.Equal(t, 20*time.Minute+time.Millisecond, p.starts[3], "it ran long enough to begin anew")
}

func TestCrashLoop(t *testing.T) {
	for n, want := range map[int]time.Duration{
		1: 0, 2: 10 * time.Second, 3: 20 * time.Second, 6: 160 * time.Second, 7: 5 * time.Minute, 1000: 5 * time.Minute,
	} {
		assert.Equal(t, want, sidecar.CrashLoop(n), "restart %d", n)
	}
}

// C-LIB-7
func TestASidecarsRequestsAreLimitedByItsFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		flags sidecar.Flags
		ends  time.Duration // of 30 requests
	}{
		"no flags":          {sidecar.Flags{}, 4 * time.Second},
		"requests a second": {sidecar.Flags{KubeAPIQPS: 10}, 2 * time.Second},
		"requests at once":  {sidecar.Flags{KubeAPIBurst: 25}, time.Second},
		"both":              {sidecar.Flags{KubeAPIQPS: 1, KubeAPIBurst: 28}, 2 * time.Second},
		"no limit":          {sidecar.Flags{KubeAPIQPS: -1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			var ended time.Duration
			sidecar.Run(p.world, tt.flags, func(*sidecar.Life) *component.Component {
				c := p.world.Start("sidecar", "")
				c.Go("main", func(process *kernel.Process) {
					for range 30 {
						_, _ = component.Live[*corev1.Node](process, c, store.Key{Name: "n"})
					}
					ended = process.Elapsed()
				})
				return c
			})
			p.at(time.Minute)
			assert.Equal(t, tt.ends, ended.Round(time.Millisecond))
		})
	}
}
