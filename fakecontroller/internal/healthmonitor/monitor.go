// Package healthmonitor is the in-process equivalent of the external-health-monitor controller. It
// requests the condition of volumes from the driver and reports it in events about their claims. It
// can also report claims with deleted nodes.
package healthmonitor

import (
	"cmp"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
)

// shortCall is the common deadline of all requests at the start. C-HEALTH-2
const shortCall = time.Second

// Caller is the sidecar's name in traces.
const Caller = "csi-external-health-monitor-controller"

// Options are the sidecar's flags. Driver, Machine and Socket are required; the other fields
// default to the defaults of the sidecar's flags. C-HEALTH-1
type Options struct {
	// Driver is the driver's name.
	Driver string `json:"-"`
	// Machine and Socket are the address of the controller plugin.
	Machine machine.Machine `json:"-"`
	Socket  string          `json:"-"`
	// Timeout bounds each call, and all pages of a list together. Default: 15 s.
	Timeout time.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 15s."`
	// MonitorInterval is the interval at which each worker checks one volume, if the driver does
	// not list volumes. Default: 1 min.
	MonitorInterval time.Duration `json:"monitorInterval,omitzero" example:"10s" doc:"--monitor-interval: the interval at which each worker checks one volume, if the driver does not list volumes; default 1m."`
	// ListVolumesInterval is the interval between lists of volumes. Default: 5 min.
	ListVolumesInterval time.Duration `json:"listVolumesInterval,omitzero" example:"1m" doc:"--list-volumes-interval: the interval at which volumes are listed; default 5m."`
	// VolumeListAddInterval is the interval at which unchecked volumes are added. Default: 5 min.
	VolumeListAddInterval time.Duration `json:"-"`
	// NodeListAddInterval is the interval at which nodes are checked. Default: 5 min.
	NodeListAddInterval time.Duration `json:"-"`
	// Workers is the number of volumes that are checked in each MonitorInterval. Default: 10.
	Workers int `json:"-"`
	// NodeWatcher emits events for claims on nodes that fail. Default: false.
	NodeWatcher bool `json:"enableNodeWatcher,omitempty" doc:"--enable-node-watcher: claims get events of nodes that fail; default false."`
	sidecar.Flags
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.MonitorInterval = cmp.Or(o.MonitorInterval, time.Minute)
	o.ListVolumesInterval = cmp.Or(o.ListVolumesInterval, 5*time.Minute)
	o.VolumeListAddInterval = cmp.Or(o.VolumeListAddInterval, 5*time.Minute)
	o.NodeListAddInterval = cmp.Or(o.NodeListAddInterval, 5*time.Minute)
	o.Workers = cmp.Or(o.Workers, 10)
	return o
}

// run is the sidecar from one start to its end.
type run struct {
	*component.Component
	wire   *wire.Wire
	opts   Options
	life   *sidecar.Life
	driver string // as the plugin calls itself

	due      []string        // volumes to check, by the names of their PersistentVolumes
	enqueued map[string]bool // volumes that are due or being checked

	failing   map[string]time.Duration // nodes that are not ready, and the times since then
	broken    map[string]bool          // nodes with a reported failure
	scheduled map[types.UID]scheduledPod
}

// Start starts the sidecar.
func Start(w *component.World, wire *wire.Wire, opts Options) *sidecar.Program {
	opts = opts.withDefaults()
	return sidecar.Run(w, opts.Flags, func(life *sidecar.Life) *component.Component {
		r := &run{
			Component: w.Start(opts.Called(Caller+"/"+opts.Driver), ""), wire: wire, opts: opts, life: life,
			enqueued: map[string]bool{}, failing: map[string]time.Duration{}, broken: map[string]bool{}, scheduled: map[types.UID]scheduledPod{},
		}
		r.Go("main", r.main)
		return r.Component
	})
}

// main requests the driver's capabilities. If the driver does not report volume conditions, the
// sidecar ends. If the driver lists volumes, all are checked at once. C-HEALTH-2
func (r *run) main(p *kernel.Process) {
	d := r.life.Connect(p, r.wire, r.site(), sidecar.Patience{Probe: r.opts.Timeout, Answer: shortCall, Together: true})
	r.driver = d.Name
	lists := d.Can("LIST_VOLUMES")
	if !d.Serves("CONTROLLER_SERVICE") || !d.Can("VOLUME_CONDITION") || !lists && !d.Can("GET_VOLUME") {
		return
	}
	r.life.Lead(p, r.opts.Lock(r.driver))
	if r.opts.NodeWatcher {
		r.Go("nodes", r.watchNodes)
	}
	if lists {
		r.checkLists(p)
		return
	}
	for range r.opts.Workers {
		r.Go("volumes", r.checkOneByOne)
	}
	r.addVolumes(p)
}

func (r *run) site() wire.Site {
	return wire.Site{Caller: r.opts.Called(Caller), Driver: r.opts.Driver, Machine: r.opts.Machine, Socket: r.opts.Socket}
}

// connUntil returns a connection for calls that share a deadline.
func (r *run) connUntil(p *kernel.Process, deadline time.Duration) grpc.ClientConnInterface {
	site := r.site()
	site.Deadline = deadline
	return r.wire.Conn(p, site)
}

func (r *run) event(about store.Object, eventType, reason, format string, args ...any) {
	r.EventFrom("csi-pv-monitor-controller-"+r.driver, about, eventType, reason, format, args...)
}

// claimOf returns the claim of a bound volume of the driver; nil for other volumes.
func (r *run) claimOf(pv *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	if !r.owns(pv) || pv.Status.Phase != corev1.VolumeBound || pv.Spec.ClaimRef == nil {
		return nil
	}
	key := store.Key{Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name}
	pvc, ok := component.Cached[*corev1.PersistentVolumeClaim](r.Component, key)
	if !ok {
		return nil
	}
	return pvc
}

func (r *run) owns(pv *corev1.PersistentVolume) bool {
	return pv.Spec.CSI != nil && pv.Spec.CSI.Driver == r.driver
}
