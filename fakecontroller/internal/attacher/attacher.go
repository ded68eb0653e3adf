// Package attacher is the external-attacher sidecar. It turns VolumeAttachments of one driver into
// ControllerPublishVolume and ControllerUnpublishVolume calls.
package attacher

import (
	"cmp"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Caller is the sidecar's name in traces.
const Caller = "csi-attacher"

// Options are the sidecar's flags. Driver, Machine and Socket are required; the other fields
// default to the defaults of the sidecar's flags. C-ATT-1
type Options struct {
	// Driver is the driver's name.
	Driver string `json:"-"`
	// Machine and Socket are the address of the controller plugin.
	Machine machine.Machine `json:"-"`
	Socket  string          `json:"-"`
	// Version is the release that is simulated. Default: the newest.
	Version sidecar.Release `json:"version,omitempty" example:"4.7" doc:"The release of the sidecar, if its behaviour differs from the newest one (docs/reference/versions.md); default the newest."`
	// Timeout bounds each ControllerPublishVolume and ControllerUnpublishVolume.
	// Default: 15 s.
	Timeout time.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 15s."`
	// RetryIntervalStart and RetryIntervalMax bound the backoff of a failed
	// attachment. Defaults: 1 s, 5 min.
	RetryIntervalStart time.Duration `json:"retryIntervalStart,omitzero" example:"500ms" doc:"--retry-interval-start: the pause before the first retry, which doubles; default 1s."`
	RetryIntervalMax   time.Duration `json:"retryIntervalMax,omitzero" example:"1m" doc:"--retry-interval-max: the longest pause before a retry; default 5m."`
	// Workers bounds the number of attachments that are processed at once. Default: 10.
	Workers uint `json:"workers,omitempty" doc:"--worker-threads; default 10."`
	// ReconcileSync is the interval at which attachments are compared to ListVolumes, if the driver
	// can list them. Default: 1 min.
	ReconcileSync time.Duration `json:"reconcileSync,omitzero" example:"15s" doc:"--reconcile-sync: the interval at which attachments are compared with ListVolumes, if the driver can list them; default 1m."`
	// MaxEntries is the page size of ListVolumes; 0 means the driver's default.
	MaxEntries uint `json:"maxEntries,omitempty" doc:"--max-entries: the page size of ListVolumes; default 0, the driver's own."`
	// DefaultFSType is the file system of volumes that do not name one.
	DefaultFSType string `json:"defaultFSType,omitempty" example:"ext4" doc:"--default-fstype: the file system of volumes that name none; default none."`
	sidecar.Flags
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.RetryIntervalStart = cmp.Or(o.RetryIntervalStart, time.Second)
	o.RetryIntervalMax = cmp.Or(o.RetryIntervalMax, 5*time.Minute)
	o.Workers = cmp.Or(o.Workers, 10)
	o.ReconcileSync = cmp.Or(o.ReconcileSync, time.Minute)
	return o
}

// run is the sidecar from one start to its end.
type run struct {
	*component.Component
	wire     *wire.Wire
	opts     Options
	features features
	// attachments and volumes are its two queues. C-ATT-3
	attachments, volumes *workqueue.Queue[store.Key]
	force                map[store.Key]bool // C-ATT-41
	life                 *sidecar.Life
	ending               bool
}

// Start starts the sidecar.
func Start(w *component.World, wire *wire.Wire, opts Options) *sidecar.Program {
	opts = opts.withDefaults()
	return sidecar.Run(w, opts.Flags, func(life *sidecar.Life) *component.Component {
		r := &run{
			Component: w.Start(opts.Called(Caller+"/"+opts.Driver), ""),
			wire:      wire,
			opts:      opts,
			force:     map[store.Key]bool{},
			life:      life,
		}
		r.Go("main", r.main)
		return r.Component
	})
}

// main requests the driver's capabilities and starts the matching handler. C-LIB-2
func (r *run) main(p *kernel.Process) {
	r.features = r.askDriver(p)
	r.life.Lead(p, r.opts.Lock(r.features.driver))
	handle := r.syncAttachment
	if !r.features.attach {
		handle = r.syncTrivially
	}
	// A key waits for at most one retry. The second call that immediately follows a failed attach
	// uses up a step of the backoff. C-ATT-3
	backoff := workqueue.Options{Workers: int(r.opts.Workers), FirstDelay: r.opts.RetryIntervalStart, MaxDelay: r.opts.RetryIntervalMax}
	r.attachments = workqueue.New("attachments", backoff, r.Go, handle)
	r.volumes = workqueue.New("volumes", backoff, r.Go, r.syncVolume)
	r.attachments.OnDelay(r.Go("resync", r.resync).Wake)
	if r.features.listsPublished {
		r.Go("reconciler", r.reconcile)
	}
	r.inform(p)
}

// own reports whether an attachment belongs to this sidecar. C-ATT-5
func (r *run) own(va *storagev1.VolumeAttachment) bool { return va.Spec.Attacher == r.features.driver }
