// Package sidecar is the in-process equivalent of the CSI-Addons sidecar. It announces a driver's
// plugin by a CSIAddonsNode, and makes the driver carry out the controller manager's requests.
package sidecar

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
)

// Caller is the sidecar's name in traces.
const Caller = "csi-addons-sidecar"

// Options are the sidecar's flags and its location. A-SIDE-1
type Options struct {
	// Driver is the driver's name; Machine and Socket are the address of the plugin.
	Driver  string
	Machine machine.Machine
	Socket  string
	// Caller is the name of this sidecar in traces. Default: the constant.
	Caller string
	// Node is the node of its plugin; empty for the controller plugin.
	Node string
	// Pod is the pod of the program.
	Pod store.Key
	// NodeID is its flag --node-id.
	NodeID string
	// Port is its flag --controller-port.
	Port int
	// Timeout bounds the requests at its start. Default: 3 min.
	Timeout time.Duration
	// LeaseNamespace is the namespace of the lease. Default: that of the pod. A-LEAD-2
	LeaseNamespace string
	// EnableAuth requires TLS and a token from callers, and reviews the token. Default: true.
	// A-SRV-2
	EnableAuth *bool
	// VolumeCondition are the flags of its reporter of volume conditions; nil disables it.
	VolumeCondition *VolumeCondition
	sidecar.Flags
}

func (o Options) secured() bool { return o.EnableAuth == nil || *o.EnableAuth }

// run is the sidecar from one start to its end.
type run struct {
	*component.Component
	opts    Options
	wire    *wire.Wire
	network *relay.Network
	life    *sidecar.Life
	lost    bool // the driver has exited, and the sidecar has not noticed yet
	ends    bool // the sidecar is exiting, and none of its processes continues
}

// Sidecar is a started sidecar.
type Sidecar struct {
	*sidecar.Program
	current *run
}

// DriverGone is called when the driver's process ends. The connection is lost, but the sidecar
// notices that only at its next call. A-SIDE-2
func (s *Sidecar) DriverGone() {
	if s.current != nil {
		s.current.lost = true
	}
}

// Start starts the sidecar.
func Start(w *component.World, over *wire.Wire, network *relay.Network, opts Options) *Sidecar {
	opts.Timeout = cmp.Or(opts.Timeout, 3*time.Minute)
	opts.Caller = cmp.Or(opts.Caller, Caller)
	opts.LeaseNamespace = cmp.Or(opts.LeaseNamespace, opts.Pod.Namespace)
	opts.Flags.Pod = opts.Pod.Name
	s := &Sidecar{}
	s.Program = sidecar.Run(w, opts.Flags, func(life *sidecar.Life) *component.Component {
		r := &run{Component: w.Start(opts.Caller+"/"+opts.Pod.Name, ""), opts: opts, wire: over, network: network, life: life}
		s.current = r
		r.Go("main", r.main)
		return r.Component
	})
	return s
}

// main probes the driver, serves and, if the driver serves its controller, takes part in the
// election. Meanwhile the sidecar registers. A-SIDE-2
func (r *run) main(p *kernel.Process) {
	pod := r.awaitPod(p)
	r.LimitEachGroup() // A-SIDE-6
	r.probeForEver(p)
	if r.opts.VolumeCondition != nil {
		r.Go("volume conditions", r.report)
	}
	r.Go("registration", r.register)
	caps := r.capabilities(p)
	r.Go("server", r.serve(pod))
	if driver := r.nameForLease(p, caps); driver != "" {
		// A-LEAD-1, A-LEAD-2.
		r.life.Elect(p, sidecar.Lock{Namespace: r.opts.LeaseNamespace, Name: LeaseName(driver)})
		p.Wait("the end of its lease", func() bool { return false })
	}
}

// awaitPod waits until the pod has an address, since the sidecar runs in a container of the pod.
// The sidecar ends with the pod.
func (r *run) awaitPod(p *kernel.Process) (pod *corev1.Pod) {
	pods := component.Watch[*corev1.Pod](r.Component, p, store.ByKey(r.opts.Pod))
	for pod == nil || pod.Status.PodIP == "" {
		p.Wait("its pod to run", func() bool { return pods.Len() > 0 })
		if e, _ := pods.Next(); e.Type != store.Deleted {
			pod = e.Object
		}
	}
	pods.Close()
	r.Go("pod", func(q *kernel.Process) {
		pods := component.Watch[*corev1.Pod](r.Component, q, store.ByKey(r.opts.Pod))
		for {
			q.Wait("the end of its pod", func() bool { return pods.Len() > 0 })
			if e, _ := pods.Next(); e.Type == store.Deleted {
				r.exit(q)
			}
		}
	})
	return pod
}

// fail ends the sidecar with exit code 1, and does not return.
func (r *run) fail(p *kernel.Process) {
	r.ends = true
	r.life.Failed(p)
}

// describe requests the driver's name from the driver, and reads the pod from the API. A-REG-1
func (r *run) describe(p *kernel.Process) (*corev1.Pod, string) {
	answer, err := r.identity(p).GetIdentity(ctx, &identity.GetIdentityRequest{})
	if err != nil || answer.GetName() == "" {
		r.fail(p)
	}
	pod, err := component.Live[*corev1.Pod](p, r.Component, r.opts.Pod)
	if err != nil {
		r.fail(p)
	}
	return pod, answer.GetName()
}

// atOnce is the duration of a call. Other parts of the sidecar can call the driver meanwhile.
// A-SIDE-2
const atOnce = time.Millisecond

func (r *run) capabilities(p *kernel.Process) []*identity.Capability {
	answer, err := r.identity(p).GetCapabilities(ctx, &identity.GetCapabilitiesRequest{})
	p.Sleep(atOnce)
	if err != nil {
		r.fail(p)
	}
	return answer.GetCapabilities()
}

// nameForLease requests the driver's name once more if the sidecar takes part in an election.
// Otherwise it returns "". A-LEAD-1
func (r *run) nameForLease(p *kernel.Process, caps []*identity.Capability) string {
	for _, c := range caps {
		if c.GetService().GetType() == identity.Capability_Service_CONTROLLER_SERVICE {
			answer, err := r.identity(p).GetIdentity(ctx, &identity.GetIdentityRequest{})
			if err != nil {
				r.fail(p)
			}
			return answer.GetName()
		}
	}
	return ""
}
