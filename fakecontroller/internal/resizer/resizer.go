// Package resizer is the in-process equivalent of the external-resizer sidecar. The driver expands
// volumes when claims request a larger size, and modifies them when claims request other
// attributes. The status of a claim records the progress.
package resizer

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Caller is the sidecar's name in traces.
const Caller = "csi-resizer"

// Options are the sidecar's flags. Driver, Machine and Socket are required; the other fields have
// the defaults of the sidecar's flags. C-RES-1
type Options struct {
	// Driver is the driver's name.
	Driver string `json:"-"`
	// Machine and Socket are the address of the controller plugin.
	Machine machine.Machine `json:"-"`
	Socket  string          `json:"-"`
	// Version is the release that is simulated. Default: the newest.
	Version sidecar.Release `json:"version,omitempty" example:"1.14" doc:"The release of the sidecar, if its behaviour differs from the newest one (docs/reference/versions.md); default the newest."`
	// Timeout bounds each call. Default: 10 s.
	Timeout time.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 10s."`
	// RetryIntervalStart and RetryIntervalMax limit the backoff of a failed claim. An infeasible
	// claim waits for RetryIntervalMax. Defaults: 1 s, 5 min.
	RetryIntervalStart time.Duration `json:"retryIntervalStart,omitzero" example:"500ms" doc:"--retry-interval-start: the pause before the first retry, which doubles; default 1s."`
	RetryIntervalMax   time.Duration `json:"retryIntervalMax,omitzero" example:"1m" doc:"--retry-interval-max: the longest pause before a retry; default 5m."`
	// Workers bounds the number of claims that are processed at once. Default: 10.
	Workers uint `json:"workers,omitempty" doc:"--workers; default 10."`
	// AnnotateFsResize is the feature gate of this name. It keeps the former size of a volume in an
	// annotation until the file system has grown. It is on by default only in releases after 2.2.
	// C-RES-3
	AnnotateFsResize bool `json:"-"`
	// RecoverVolumeExpansionFailure and VolumeAttributesClass are feature gates. Default: as in the
	// release.
	RecoverVolumeExpansionFailure *bool `json:"recoverVolumeExpansionFailure,omitempty" doc:"The feature gate RecoverVolumeExpansionFailure: claims record expansions under way, and infeasible ones are retried rarely; default true since 1.13."`
	VolumeAttributesClass         *bool `json:"volumeAttributesClass,omitempty" doc:"The feature gate VolumeAttributesClass: volumes are modified when their claims name another class; default true since 2.0."`
	sidecar.Flags
}

// recovers reports whether a claim records its expansion.
func (o Options) recovers() bool {
	return o.Version.Gate(o.RecoverVolumeExpansionFailure, sidecar.RecoversExpansion)
}

func (o Options) modifies() bool {
	return o.Version.Gate(o.VolumeAttributesClass, sidecar.ModifiesVolumes)
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.RetryIntervalStart = cmp.Or(o.RetryIntervalStart, time.Second)
	o.RetryIntervalMax = cmp.Or(o.RetryIntervalMax, 5*time.Minute)
	o.Workers = cmp.Or(o.Workers, 10)
	return o
}

type (
	claim            = *corev1.PersistentVolumeClaim
	persistentVolume = *corev1.PersistentVolume
)

// run is one run of the sidecar, from its start to its end. Its record of failures ends with it.
// C-RES-23
type run struct {
	*component.Component
	wire     *wire.Wire
	opts     Options
	features features
	life     *sidecar.Life

	sizes       *workqueue.Queue[store.Key]
	claims      *component.Overlay[claim]
	volumes     *component.Overlay[persistentVolume]
	finalErrors map[store.Key]bool // claims with a last expansion that failed permanently
	inUse       map[types.UID]bool // claims that the driver does not expand while in use. C-RES-16
	infeasible  slowSet

	attributes *workqueue.Queue[store.Key]
	// Claims with a modification that the driver may still be executing.
	uncertain    map[store.Key]bool
	unmodifiable slowSet
}

// Start starts the sidecar.
func Start(w *component.World, wire *wire.Wire, opts Options) *sidecar.Program {
	opts = opts.withDefaults()
	return sidecar.Run(w, opts.Flags, func(life *sidecar.Life) *component.Component {
		r := &run{
			Component: w.Start(opts.Called(Caller+"/"+opts.Driver), ""), wire: wire, opts: opts, life: life,
			finalErrors: map[store.Key]bool{}, inUse: map[types.UID]bool{}, infeasible: newSlowSet(opts.RetryIntervalMax),
			uncertain: map[store.Key]bool{}, unmodifiable: newSlowSet(opts.RetryIntervalMax),
		}
		r.claims = component.NewOverlay[claim](r.Component)
		r.volumes = component.NewOverlay[persistentVolume](r.Component)
		r.Go("main", r.main)
		return r.Component
	})
}

// main requests the driver's capabilities. If the driver has no feature for the sidecar, the
// sidecar ends. C-RES-2
func (r *run) main(p *kernel.Process) {
	r.features = r.askDriver(p)
	if !r.features.expands() && !r.features.modify {
		return
	}
	r.life.Lead(p, r.opts.Lock(r.features.driver))
	backoff := workqueue.Options{Workers: int(r.opts.Workers), FirstDelay: r.opts.RetryIntervalStart, MaxDelay: r.opts.RetryIntervalMax}
	r.sizes = workqueue.New("sizes", backoff, r.Go, r.syncSize)
	r.attributes = workqueue.New("attributes", backoff, r.Go, r.syncAttributes)
	for pvc := range store.List[claim](r.Cache, "") { // C-RES-47
		if s := pvc.Status.ModifyVolumeStatus; s != nil && s.Status == modifyInProgress {
			r.uncertain[store.KeyOf(pvc)] = true
		}
	}
	r.Go("resync", r.resync)
	r.inform(p)
}

func (r *run) event(about store.Object, eventType, reason, format string, args ...any) {
	r.EventFrom("external-resizer "+r.features.driver, about, eventType, reason, format, args...)
}
