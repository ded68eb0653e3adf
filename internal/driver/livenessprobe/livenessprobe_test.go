package livenessprobe_test

import (
	"context"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const socket = "/csi/csi.sock"

// pod is a driver with its livenessprobe, and a kubelet that restarts the driver at once.
type pod struct {
	t        *testing.T
	world    *component.World
	wire     *wire.Wire
	machine  *machine.Memory
	sidecar  *sidecar.Program
	unready  bool
	began    time.Duration
	restarts []float64
	why      string
}

type identity struct {
	csi.UnimplementedIdentityServer
	pod *pod
}

func (identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: "live.example.com"}, nil
}

func (i identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	if i.pod.unready {
		return &csi.ProbeResponse{Ready: wrapperspb.Bool(false)}, nil
	}
	return &csi.ProbeResponse{}, nil // an empty answer means ready
}

func newPod(t *testing.T, o livenessprobe.Options) *pod {
	k := kernel.New(kernel.Options{})
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	p := &pod{t: t, world: w, wire: wire.New(w), machine: machine.NewMemory("node-a")}
	t.Cleanup(func() { k.Close(); p.wire.Close() })
	endpoint := &livenessprobe.Endpoint{}
	at := sidecar.Target{Driver: "live.example.com", Node: "node-a", Machine: p.machine, Socket: socket}
	p.sidecar = livenessprobe.Start(w, p.wire, o, at, endpoint)
	container := livenessprobe.Container{
		Began: func() (time.Duration, bool) { return p.began, true },
		Restart: func(why string) {
			p.began, p.why = k.Elapsed(), why
			p.restarts = append(p.restarts, k.Elapsed().Seconds())
		},
	}
	k.Spawn(nil, "prober", func(process *kernel.Process) { livenessprobe.Probe(process, o, endpoint, container) })
	return p
}

func (p *pod) serve() {
	_, err := p.machine.BindSocket(socket, machine.Service{Desc: &csi.Identity_ServiceDesc, Server: identity{pod: p}, Prompt: true})
	require.NoError(p.t, err)
}

func (p *pod) at(when time.Duration) {
	p.t.Helper()
	p.world.Kernel.Run(kernel.Until{At: when})
	require.NoError(p.t, p.world.Kernel.Err())
}

func (p *pod) fault(f fault.Fault) { p.wire.Faults.Inject(&f) }

// asked returns the times of calls of the driver, in seconds.
func (p *pod) asked(method string) (at []float64) {
	for _, e := range p.world.Trace.Events() {
		if e.Kind == trace.Call && e.Method == "Identity/"+method {
			assert.Equal(p.t, "livenessprobe", e.Actor)
			at = append(at, e.At.Seconds())
		}
	}
	return at
}

// C-LIVE-1, C-LIVE-2: one GetPluginInfo at the start; one Probe for each request of the kubelet.
func TestAHealthyDriverIsProbedAndLeftAlone(t *testing.T) {
	p := newPod(t, livenessprobe.Options{})
	p.serve()
	p.at(45 * time.Second)
	assert.Equal(t, []float64{0}, p.asked("GetPluginInfo"))
	assert.Equal(t, []float64{10, 20, 30, 40}, p.asked("Probe"), "not before the initial delay")
	assert.Empty(t, p.restarts)
	assert.Equal(t, kernel.Quiet, p.world.Kernel.Run(kernel.Until{StopWhenQuiet: true}), "probes are housekeeping")
}

// C-LIVE-2, C-LIVE-3: whatever is wrong with the driver, the kubelet restarts its container when
// the probe has failed five times in a row.
func TestAnUnhealthyDriverIsRestarted(t *testing.T) {
	for name, tt := range map[string]struct {
		ails func(*pod)
		at   []float64
		why  string
	}{
		"an error": {
			func(p *pod) {
				p.fault(fault.Fault{Call: "Probe", Effect: fault.Answer, Code: codes.Internal, Message: "no", Times: 5})
			},
			[]float64{50}, "Liveness probe failed: HTTP probe failed with statuscode: 500: rpc error: code = Internal desc = no",
		},
		"not ready": {
			func(p *pod) { p.unready = true },
			[]float64{50, 100}, "Liveness probe failed: HTTP probe failed with statuscode: 500: driver responded but is not ready",
		},
		"no answer": {
			func(p *pod) { p.fault(fault.Fault{Call: "Probe", Effect: fault.Hang, Times: 5}) },
			[]float64{53}, "Liveness probe failed: context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		},
		"a slow answer": {
			func(p *pod) {
				p.fault(fault.Fault{Call: "Probe", Effect: fault.HoldAnswer, Delay: 2 * time.Second})
			},
			nil, "",
		},
		"four failures": {
			func(p *pod) {
				p.fault(fault.Fault{Call: "Probe", Effect: fault.Answer, Code: codes.Internal, Times: 4})
			},
			nil, "",
		},
		"a livenessprobe that is dead": {
			func(p *pod) { p.at(time.Second); p.sidecar.Crash() },
			[]float64{50, 100}, "Liveness probe failed: connect: connection refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, livenessprobe.Options{})
			p.serve()
			tt.ails(p)
			p.at(105 * time.Second)
			assert.Equal(t, tt.at, p.restarts)
			assert.Equal(t, tt.why, p.why)
		})
	}
}

// C-LIVE-1: livenessprobe connects without a time limit and serves nothing until then, so the probe
// also fails.
func TestAMissingDriverFailsTheProbe(t *testing.T) {
	p := newPod(t, livenessprobe.Options{FailureThreshold: 3})
	p.at(35 * time.Second)
	assert.Equal(t, []float64{30}, p.restarts)
	assert.Empty(t, p.asked("GetPluginInfo"))
	p.serve()
	p.at(65 * time.Second)
	assert.Equal(t, []float64{36}, p.asked("GetPluginInfo"))
	assert.Equal(t, []float64{40, 50, 60}, p.asked("Probe"))
	assert.Equal(t, []float64{30}, p.restarts)
}

// C-LIVE-1: a driver that does not return its name makes livenessprobe exit.
func TestADriverWithoutANameEndsTheSidecar(t *testing.T) {
	p := newPod(t, livenessprobe.Options{})
	p.serve()
	p.fault(fault.Fault{Call: "GetPluginInfo", Effect: fault.Answer, Code: codes.Internal, Times: 2})
	p.at(15 * time.Second)
	assert.Equal(t, []float64{0, 0, 10}, p.asked("GetPluginInfo"), "it is restarted with the backoff of a crash loop")
}

// C-LIVE-1: the flag, and the container's livenessProbe.
func TestProbesFollowTheirOptions(t *testing.T) {
	o := livenessprobe.Options{ProbeTimeout: time.Second, InitialDelay: 4 * time.Second, Period: 2 * time.Second, Timeout: 5 * time.Second, FailureThreshold: 2}
	p := newPod(t, o)
	p.serve()
	p.fault(fault.Fault{Call: "Probe", Effect: fault.Hang, Times: 2})
	p.at(9 * time.Second)
	assert.Equal(t, []float64{4, 6}, p.asked("Probe"))
	assert.Equal(t, []float64{7}, p.restarts)
	assert.Contains(t, p.why, "DeadlineExceeded", "of Probe, before the kubelet gives up")
	p.at(13 * time.Second)
	assert.Equal(t, []float64{4, 6, 12}, p.asked("Probe"))

	assert.Empty(t, o.Mistakes())
	o.Period = 1500 * time.Millisecond
	assert.Equal(t, "period", o.Mistakes()[0].Field)
}
