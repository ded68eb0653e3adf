// Package snapshotter is the in-process equivalent of the csi-snapshotter sidecar. It makes the
// driver create and delete snapshots for VolumeSnapshotContents, and writes the results there.
package snapshotter

import (
	"cmp"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Caller is the sidecar's name in traces.
const Caller = "csi-snapshotter"

// Options are the sidecar's flags. Driver, Machine and Socket are required; the other fields have
// the defaults of the sidecar's flags. C-SNAP-30
type Options struct {
	// Version is the release of the sidecar: see docs/reference/versions.md. Default: the newest.
	Version sidecar.Release `json:"version,omitempty" example:"6.3" doc:"The release of the sidecar, if its behaviour differs from the newest one (docs/reference/versions.md); default the newest."`
	// Driver is the driver's name.
	Driver string `json:"-"`
	// Machine and Socket are the address of the controller plugin.
	Machine machine.Machine `json:"-"`
	Socket  string          `json:"-"`
	// Timeout bounds each call. Default: 1 min.
	Timeout time.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 1m."`
	// RetryIntervalStart and RetryIntervalMax limit the delay until a content is processed again:
	// after an error, or while its snapshot is not ready. Defaults: 1 s, 5 min.
	RetryIntervalStart time.Duration `json:"retryIntervalStart,omitzero" example:"500ms" doc:"--retry-interval-start: the pause before the first retry, which doubles; default 1s."`
	RetryIntervalMax   time.Duration `json:"retryIntervalMax,omitzero" example:"1m" doc:"--retry-interval-max: the longest pause before a retry; default 5m."`
	// Workers bounds the number of contents that are processed at once. Default: 10.
	Workers uint `json:"workers,omitempty" doc:"--worker-threads; default 10."`
	// CreateMetadata adds the names of the snapshot and the content to the parameters of
	// CreateSnapshot, as --extra-create-metadata does. Default: false.
	CreateMetadata bool `json:"extraCreateMetadata,omitempty" doc:"--extra-create-metadata: the names of snapshot and content are parameters of CreateSnapshot; default false."`
	sidecar.Flags
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.RetryIntervalStart = cmp.Or(o.RetryIntervalStart, time.Second)
	o.RetryIntervalMax = cmp.Or(o.RetryIntervalMax, 5*time.Minute)
	o.Workers = cmp.Or(o.Workers, 10)
	return o
}

type content = *snapshotv1.VolumeSnapshotContent

// run is one run of the sidecar, from its start to its end.
type run struct {
	*component.Component
	wire   *wire.Wire
	opts   Options
	life   *sidecar.Life
	driver string // as the plugin calls itself

	groups bool // the driver serves the GroupController, and this release makes groups

	contents      *contents[content]
	groupContents *contents[groupContent]
	resyncer      *kernel.Process
}

// Start starts the sidecar.
func Start(w *component.World, wire *wire.Wire, opts Options) *sidecar.Program {
	opts = opts.withDefaults()
	return sidecar.Run(w, opts.Flags, func(life *sidecar.Life) *component.Component {
		r := &run{Component: w.Start(opts.Called(Caller+"/"+opts.Driver), ""), wire: wire, opts: opts, life: life}
		r.contents = r.snapshots()
		r.groupContents = r.groupSnapshots()
		r.Go("main", r.main)
		return r.Component
	})
}

// main requests the driver's capabilities. If the driver has no snapshots, the sidecar ends.
// C-SNAP-30
func (r *run) main(p *kernel.Process) {
	d := r.life.Connect(p, r.wire, r.site(), sidecar.Patience{Probe: r.opts.Timeout, Answer: r.opts.Timeout})
	r.driver, r.groups = d.Name, d.Serves("GROUP_CONTROLLER_SERVICE") && r.opts.Version.Has(sidecar.MakesGroups)
	if !d.Can("CREATE_DELETE_SNAPSHOT") {
		return
	}
	if !r.opts.Version.Has(sidecar.MakesGroups) && d.Serves("GROUP_CONTROLLER_SERVICE") {
		r.Trace.Note("", "csi-snapshotter %s does not create and delete group snapshots: releases since 7.0 do", r.opts.Version)
	}
	r.meetGroups(p)
	r.life.Lead(p, r.opts.Lock(r.driver))
	retrying := workqueue.Options{Workers: int(r.opts.Workers), FirstDelay: r.opts.RetryIntervalStart, MaxDelay: r.opts.RetryIntervalMax}
	r.contents.start("contents", retrying)
	r.groupContents.start("group contents", retrying)
	r.resyncer = r.Go("resync", r.resync)
	if r.opts.Version.Has(sidecar.MakesGroups) {
		r.Go("groups", r.informGroups)
	}
	r.inform(p)
}

func (r *run) event(about store.Object, eventType, reason, format string, args ...any) {
	r.EventFrom("csi-snapshotter "+r.driver, about, eventType, reason, format, args...)
}
