package fakekubelet

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/fakekubelet/internal/probe"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// probeKind is the effect of a probe: it decides whether the container is restarted, is ready, or
// has started.
type probeKind string

const (
	liveness  probeKind = "Liveness"
	readiness probeKind = "Readiness"
	startup   probeKind = "Startup"
)

// prober runs one probe of a container again and again. The state of the container changes after
// enough equal answers in a row.
type prober struct {
	*container
	kind     probeKind
	spec     *corev1.Probe
	process  *kernel.Process
	instance *runtime.Instance // the probed instance
	holds    bool              // the state according to the probe
	last     bool              // the latest answer
	alike    int32             // the number of equal results in a row
	onHold   bool              // the instance is being stopped
}

// newProber returns nil if there is no probe, or if the container is a record: records cannot be
// probed.
func (c *container) newProber(kind probeKind, spec *corev1.Probe) *prober {
	if spec == nil || c.program.IsRecord() {
		return nil
	}
	return &prober{container: c, kind: kind, spec: spec}
}

// probe starts the probes of the container.
func (c *container) probe() {
	for _, b := range []*prober{c.liveness, c.readiness, c.startup} {
		if b != nil {
			b.process = c.Go(b.name()+" of "+c.pod.Namespace+"/"+c.pod.Name+"/"+c.spec.Name, b.run)
		}
	}
}

// started reports whether the container has started, according to its startup probe.
func (c *container) started() bool {
	return c.running() && (c.startup == nil || c.startup.says())
}

// ready reports whether the container is ready.
func (c *container) ready() bool {
	return c.started() && (c.readiness == nil || c.readiness.says())
}

// says returns the state of the running instance according to the probe. An instance without a
// probe result has not started and is not ready.
func (b *prober) says() bool { return b.instance == b.program.Now && b.holds }

func (b *prober) name() string { return strings.ToLower(string(b.kind)) + " probe" }

func (b *prober) run(p *kernel.Process) {
	period := time.Duration(b.spec.PeriodSeconds) * time.Second
	for !b.ended && (!b.terminating || b.kind == readiness) {
		next := p.Elapsed() + period
		b.look(p)
		p.IdleUntil("the next "+b.name(), next)
	}
}

// look probes once, if a probe is due.
func (b *prober) look(p *kernel.Process) {
	now := b.program.Now
	if now == nil {
		return
	}
	if b.instance != now {
		b.instance, b.alike, b.onHold = now, 0, false
		b.holds = b.kind == liveness || b.kind == readiness && b.wasReady(now)
	}
	// A startup probe ends when the container has started. Other probes begin then.
	wanted := b.started() != (b.kind == startup)
	delay := time.Duration(b.spec.InitialDelaySeconds) * time.Second
	if b.onHold || !b.running() || !wanted || b.Kernel.Now().Sub(now.Started) < delay {
		return
	}
	answer, err := b.ask(p)
	switch {
	case err != nil:
		b.Event(b.pod, corev1.EventTypeWarning, "Unhealthy", "%s probe errored and resulted in unknown state: %v", b.kind, err)
		return
	case b.program.Now != now || !b.running():
		return // the instance ended meanwhile
	case !answer.OK:
		b.Event(b.pod, corev1.EventTypeWarning, "Unhealthy", "%s probe failed: %s", b.kind, answer.Output)
	}
	b.count(p, answer.OK)
}

// wasReady reports the readiness in the status. A starting kubelet keeps it for running containers.
func (b *prober) wasReady(i *runtime.Instance) bool {
	for _, s := range b.pod.Status.ContainerStatuses {
		if s.Name == b.container.spec.Name && s.ContainerID == i.ID {
			return s.Ready
		}
	}
	return false
}

// count counts equal answers, and acts when there are enough.
func (b *prober) count(p *kernel.Process, ok bool) {
	if ok == b.last && b.alike > 0 {
		b.alike++
	} else {
		b.last, b.alike = ok, 1
	}
	if ok && b.alike < b.spec.SuccessThreshold || !ok && b.alike < b.spec.FailureThreshold {
		return
	}
	changed := b.holds != ok
	b.holds = ok
	if !ok && b.kind != readiness {
		b.onHold = true
		b.unhealthy = b
		b.container.process.Wake()
		return
	}
	if changed {
		b.report(p)
	}
	if changed && b.kind == startup {
		b.askReadiness()
	}
}

// askReadiness probes immediately whether a container that has just started is ready.
func (c *container) askReadiness() {
	if c.readiness != nil && c.started() {
		c.readiness.process.Wake()
	}
}

// ask asks once.
func (b *prober) ask(p *kernel.Process) (probe.Answer, error) {
	limit := time.Duration(b.spec.TimeoutSeconds) * time.Second
	switch h := b.spec.ProbeHandler; {
	case h.Exec != nil:
		return b.askCommand(p, h.Exec.Command, limit)
	case h.HTTPGet != nil:
		return b.get(p, b.name(), h.HTTPGet, limit)
	case h.TCPSocket != nil:
		port, err := b.port(h.TCPSocket.Port)
		if err != nil {
			return probe.Answer{}, err
		}
		host := cmp.Or(h.TCPSocket.Host, b.address())
		return b.call(p, b.name(), limit, fmt.Sprintf("dial tcp %s:%d: i/o timeout", host, port), func(ctx context.Context) probe.Answer {
			return probe.TCP(ctx, b.dialer(), host, port)
		}), nil
	}
	service := ""
	if b.spec.GRPC.Service != nil {
		service = *b.spec.GRPC.Service
	}
	return b.call(p, b.name(), limit, fmt.Sprintf("timeout: health rpc did not complete within %v", limit), func(ctx context.Context) probe.Answer {
		return probe.GRPC(ctx, b.dialer(), b.address(), int(b.spec.GRPC.Port), service)
	}), nil
}

// get probes over HTTP.
func (c *container) get(p *kernel.Process, what string, action *corev1.HTTPGetAction, limit time.Duration) (probe.Answer, error) {
	port, err := c.port(action.Port)
	if err != nil {
		return probe.Answer{}, err
	}
	at := probe.URL(action, cmp.Or(action.Host, c.address()), port)
	late := fmt.Sprintf("Get %q: context deadline exceeded (Client.Timeout exceeded while awaiting headers)", at)
	return c.call(p, what, limit, late, func(ctx context.Context) probe.Answer {
		return probe.HTTP(ctx, c.dialer(), at, action.HTTPHeaders, c.Version.String())
	}), nil
}

// dialer returns the function by which the kubelet connects to containers.
func (c *container) dialer() machine.Dial { return c.options.Runtime.Dialer() }

// port resolves a port number, or the name of a container port.
func (c *container) port(p intstr.IntOrString) (int, error) {
	if p.Type == intstr.Int {
		return p.IntValue(), nil
	}
	for _, known := range c.spec.Ports {
		if known.Name == p.StrVal {
			return int(known.ContainerPort), nil
		}
	}
	return 0, fmt.Errorf("couldn't find port: %v in container", p.StrVal)
}

// call runs a probe over the network on a separate thread. late is the output after a timeout.
func (c *container) call(p *kernel.Process, what string, limit time.Duration, late string, ask func(context.Context) probe.Answer) probe.Answer {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var answer probe.Answer
	if !p.Fly(what, kernel.Matter{}, p.Elapsed()+c.Kernel.Real(limit), func() { answer = ask(ctx) }, cancel) {
		return probe.Answer{Output: late}
	}
	return answer
}

// askCommand runs a command in the container.
func (b *prober) askCommand(p *kernel.Process, words []string, limit time.Duration) (probe.Answer, error) {
	code, output, err := b.program.Exec(p, words, limit)
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "command timed out"):
		return probe.Answer{Output: err.Error()}, nil
	case err != nil:
		return probe.Answer{}, err
	}
	return probe.Answer{OK: code == 0, Output: output}, nil
}
