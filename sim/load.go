package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/load/play"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// LoadOptions describe a load on a driver.
type LoadOptions struct {
	// Cluster is the cluster of each level, with one driver. The plan determines its Nodes, its
	// pace and its latencies.
	Cluster Options
	// Objects are applied first: classes and Secrets. Default: a StorageClass of the driver, and a
	// VolumeSnapshotClass for LoadSnapshot.
	Objects []store.Object
	// Workload makes the claim and the pod of each volume. Default: a claim of 16Mi of that class.
	Workload LoadWorkload
	Plan     LoadPlan
	// Progress is called when a part of a run begins. Default: nothing.
	Progress func(volumes, run int, phase string)
}

// LoadPlan is the course of a load, LoadWorkload creates its objects, and LoadResult contains its
// measurements.
type (
	LoadPlan     = load.Plan
	LoadWorkload = play.Workload
	LoadResult   = load.Result
)

// The shapes of a load, see the documentation of csisim load.
const (
	LoadBurst    = load.Burst
	LoadRamp     = load.Ramp
	LoadChurn    = load.Churn
	LoadMove     = load.Move
	LoadRestart  = load.Restart
	LoadSnapshot = load.Snapshot
	LoadExpand   = load.Expand
	LoadBlock    = load.Block
)

// Load runs a load against a driver, each level in a separate cluster. A *ConfigError or an
// *EnvironmentError describes why a cluster cannot be created.
func Load(ctx context.Context, o LoadOptions) (*LoadResult, error) {
	results, err := LoadInTurns(ctx, o)
	if len(results) == 0 {
		return nil, err
	}
	return results[0], err
}

// LoadInTurns is Load for several builds of a driver. It alternates between the builds, so that
// slow moments of the machine affect all of them. The plan is derived from the first build. The
// results are in the order of the options.
func LoadInTurns(ctx context.Context, builds ...LoadOptions) ([]*LoadResult, error) {
	played := play.Options{Plan: builds[0].Plan.WithDefaults(), Progress: builds[0].Progress}
	var drivers []*loaded
	for _, o := range builds {
		o.Plan = played.Plan
		if err := o.complete(); err != nil {
			return nil, err
		}
		driver := &loaded{options: o}
		drivers = append(drivers, driver)
		played.Builds = append(played.Builds, play.Build{Workload: o.Workload, Start: driver.start})
	}
	results, err := play.Play(ctx, played)
	for i, result := range results {
		result.Driver = drivers[i].facts
	}
	return results, err
}

// complete checks the options and sets their defaults.
func (o *LoadOptions) complete() error {
	if err := o.Plan.Check(); err != nil {
		return &ConfigError{Subject: "the load", Problem: err.Error()}
	}
	if len(o.Cluster.Drivers) != 1 {
		return &ConfigError{Subject: "the load", Problem: fmt.Sprintf("its cluster has %d drivers, and a load is on one", len(o.Cluster.Drivers))}
	}
	if o.Workload == nil {
		return o.usualWorkload()
	}
	return nil
}

// usualClass is the name of the default classes of a load.
const usualClass = "load"

// usualWorkload sets the workload, and adds the classes that it needs.
func (o *LoadOptions) usualWorkload() error {
	driver := o.Cluster.Drivers[0].Name
	o.Objects = append(slices.Clone(o.Objects), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: usualClass}, Provisioner: driver, AllowVolumeExpansion: new(true),
	})
	if o.Plan.Shape == load.Snapshot {
		o.Objects = append(o.Objects, &snapshotv1.VolumeSnapshotClass{
			ObjectMeta: metav1.ObjectMeta{Name: usualClass}, Driver: driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
		})
	}
	w, err := play.Plain{Class: usualClass, SnapshotClass: usualClass, Size: resource.MustParse("16Mi"), Block: o.Plan.Shape == load.Block}.Template()
	o.Workload = w
	return err
}

// loaded is a driver under load.
type loaded struct {
	options LoadOptions
	facts   load.Driver
}

// start starts the cluster of a level.
func (l *loaded) start(ctx context.Context, volumes int, looks bool, sink trace.Sink) (play.Cluster, error) {
	o, plan := l.options.Cluster, l.options.Plan
	o.Context, o.NoDataCheck, o.SeesLookups = ctx, true, looks
	o.Sinks = append(slices.Clone(o.Sinks), sink)
	o.Pace, o.Latencies = Measured, maps.Clone(o.Latencies)
	for call, text := range plan.Latencies {
		latency, err := ParseLatency(text)
		if err != nil {
			return nil, &ConfigError{Subject: "the latency of " + call, Problem: err.Error()}
		}
		if o.Latencies == nil {
			o.Latencies = map[string]Latency{}
		}
		o.Latencies[call] = latency
	}
	if plan.Clock == load.RealTime {
		o.Pace = Real
	}
	o.Nodes = l.nodes(plan, volumes)
	c, err := Start(o)
	if err != nil {
		return nil, err
	}
	under := &underLoad{Simulation: c}
	if err = c.Boot(); err == nil {
		l.learn(c)
	}
	for _, object := range l.options.Objects {
		if err == nil {
			_, err = c.Apply(object)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return under, nil
}

// learn derives the facts about the driver from its answers.
func (l *loaded) learn(c *Simulation) {
	var caps contract.Caps
	for _, e := range c.World.Trace.Events() {
		if e.Kind != trace.Call || e.Response == nil {
			continue
		}
		caps.Learn(e.Response)
		if info, is := e.Response.(*csi.GetPluginInfoResponse); is {
			l.facts.Name, l.facts.Version = info.GetName(), info.GetVendorVersion()
		}
	}
	l.facts.Attaches = caps.Controller.Has("PUBLISH_UNPUBLISH_VOLUME")
	l.facts.Stages = caps.Node.Has("STAGE_UNSTAGE_VOLUME")
}

// nodes returns the nodes of a level; each can run its share of the pods.
func (l *loaded) nodes(plan LoadPlan, volumes int) (nodes []Node) {
	given := l.options.Cluster.Nodes
	for i := range plan.Nodes {
		n := Node{Name: fmt.Sprintf("node-%d", i)}
		if i < len(given) {
			n = given[i]
		}
		n.MaxPods = cmp.Or(n.MaxPods, usualPods)
		if most := volumes + plan.Nodes; plan.Shape == load.Move && most > n.MaxPods {
			n.MaxPods = most
		} else if most := volumes/plan.Nodes + 2; most > n.MaxPods {
			n.MaxPods = most
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// usualPods is the default limit of a kubelet's pods.
const usualPods = 110

// underLoad is a simulated cluster as the load generator uses it.
type underLoad struct{ *Simulation }

func (u *underLoad) Store() *store.Store { return u.World.Store }
func (u *underLoad) Now() time.Duration  { return u.World.Kernel.Elapsed() }
func (u *underLoad) UnderWay() int       { return u.World.Kernel.UnderWay() }

func (u *underLoad) WaitFor(what string, limit time.Duration, cond func() bool) error {
	err := u.Simulation.WaitFor(what, limit, cond)
	if stuck := (*StuckError)(nil); errors.As(err, &stuck) {
		return &play.Stuck{What: what}
	}
	return err
}

func (u *underLoad) Cordon(node string, on bool) error {
	return cluster.Cordon(u.World.Store, node, on)
}

func (u *underLoad) RestartKubelet(node string) error { return u.Restart(Kubelet(node)) }

func (u *underLoad) RestartDriver(node string) (time.Duration, error) {
	if d := u.drivers.All[0]; node == "" && (d.Controller == nil || d.Controller.Node != "") {
		return 0, nil // one program is both
	}
	p := Plugin{Driver: u.drivers.All[0].Name, Node: node}
	if err := u.Stop(p); err != nil {
		return 0, err
	}
	began := time.Now()
	err := u.Start(p)
	return time.Since(began), err
}

func (u *underLoad) Programs() (all []play.Program) {
	for _, b := range u.drivers.Programs() {
		if b.Running {
			process := b.Process()
			all = append(all, play.Program{Plugin: b.String(), PID: process.PID(), Family: process.Family, Busy: process.Busy})
		}
	}
	return all
}

func (u *underLoad) Opened() map[string]int {
	sum := map[string]int{}
	for _, b := range u.drivers.Programs() {
		for name, times := range b.Process().Opened() {
			sum[name] += times
		}
	}
	return sum
}

func (u *underLoad) Died() (all []load.Death) {
	for _, d := range u.Simulation.Died() {
		all = append(all, load.Death{Text: d.Text, Log: d.Log})
	}
	return all
}
