package sim

import (
	"context"
	"errors"
	"sync"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// Simulation is a simulated cluster and its virtual time. Only Interrupt is safe for concurrent
// use.
type Simulation struct {
	// World is the kernel, the store and the trace.
	World *component.World
	// Wire is between the control plane and the drivers: faults go in here.
	Wire *wire.Wire

	options     Options
	run         *run
	cluster     string // empty if it is the only one of its run
	machines    cluster.Machines
	nodes       cluster.Nodes
	drivers     *cluster.Drivers
	power       *cluster.Power
	controllers cluster.Controllers
	objects     *cluster.Objects
	api         func() *apiserver.Server
	images      cluster.Images
	checks      *cluster.Checks
}

// Start creates a cluster and starts its components. Virtual time does not advance before the first
// wait. A *ConfigError or an *EnvironmentError describes why the cluster cannot be created. If
// Start fails, it undoes its changes.
func Start(o Options) (*Simulation, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	return newRun(o).add(o, "")
}

// newSimulation returns a cluster of the run in which nothing has started.
func (r *run) newSimulation(o Options, name string) *Simulation {
	c := &Simulation{options: o, run: r, cluster: name}
	k := r.kernel
	s := kind.NewStore(store.Options{Now: k.Now, Names: o.Names + name, Guard: o.Guard, Starts: o.starts()}, kind.TaintNewNodes, kind.Features(o.FeatureGates),
		kind.Kubernetes(func() version.Version { return c.World.Version }))
	if o.Token != "" { // the API is served sooner or later
		kind.SignTokens(s, apiserver.SignToken)
	}
	c.World = component.NewWorld(k, s, r.recorder(name))
	c.World.Cluster = name
	c.World.Features, c.World.Legacy = o.FeatureGates, o.Legacy
	c.World.Began = o.Kubernetes
	c.World.Version, c.World.Migration = o.Kubernetes, migration.Of(o.Kubernetes).With(o.Migration)
	c.Wire = wire.New(c.World)
	c.Wire.Strict, c.Wire.RealClock, c.Wire.Latencies = o.Strict, o.Pace == Real, o.Latencies
	c.Wire.ShowSystemCalls = c.options.SystemCalls
	for _, f := range o.Faults {
		if name != "" { // each cluster has its own count of calls
			own := *f
			f = &own
		}
		c.Wire.Faults.Inject(f)
	}
	c.api = sync.OnceValue(c.startAPI)
	c.assemble()
	return c
}

// assemble makes the parts of the cluster.
func (c *Simulation) assemble() {
	o := c.options
	awaiting := cluster.AwaitingRestart{}
	c.drivers = &cluster.Drivers{
		World: c.World, Wire: c.Wire, Nodes: &c.nodes, Controllers: &c.controllers, Awaiting: awaiting, Interrupt: o.Context,
		Dir: func() string { return c.run.work.Path() }, SnapshotController: o.SnapshotController, HaveImages: o.hasImages(),
		Objects: cluster.NewObjects(c.World.Store), AddonsManager: o.AddonsManager,
	}
	c.objects = c.drivers.Objects
	if o.isOutside(AddonsManager) {
		c.drivers.AddonsHost = o.loopbackSeen()
	}
	c.power = &cluster.Power{Drivers: c.drivers, Cluster: c.cluster}
	faults := cluster.Faults{Power: c.power}
	c.Wire.Crasher, c.Wire.ReleaseAt = faults, c.drivers.ReleaseAt
	c.Wire.ProgramAt, c.Wire.ServiceAt, c.Wire.Work = c.drivers.ProgramAt, c.drivers.ServiceAt, c.run.unfinished
	users := cluster.Users{World: c.World, Wire: c.Wire, Objects: c.objects, Drivers: c.drivers}
	c.Wire.Act = users.Act
	c.controllers.In = fakecontroller.Cluster{World: c.World, Heartbeats: &c.nodes}
	c.controllers.Awaiting, c.nodes.Awaiting = awaiting, awaiting
	cluster.DrawFaults(c.World, c.Wire, o.FaultSpace, faults)
	c.startChecks()
	c.nodes.World, c.nodes.Checks, c.drivers.Checks = c.World, c.checks, c.checks
	c.machines = cluster.Machines{World: c.World, Layout: o.KubeletDir, Lost: c.power.LostProcessOne}
}

func (c *Simulation) start() error {
	if err := c.startMachines(); err != nil {
		return err
	}
	if err := c.restore(); err != nil {
		return err
	}
	for _, n := range c.nodes.All {
		fakekubelet.MakeDirectories(n.Machine)
	}
	if err := c.startDrivers(); err != nil {
		return err
	}
	if err := c.startControllers(); err != nil {
		return err
	}
	for _, n := range c.nodes.All {
		if err := context.Cause(c.options.Context); err != nil {
			return err
		}
		c.nodes.StartKubelet(n)
		if c.options.starts() > 0 {
			n.Kubelet.Rebooted("csisim up has started again")
		}
	}
	return nil
}

// Close ends the cluster, and stops the virtual time of all clusters of its run. None of their
// processes, mounts, sockets and files remains. Close may be called several times.
func (c *Simulation) Close() error {
	c.run.end()
	c.drivers.Addons.Close()
	c.Wire.Close()
	errs := []error{c.drivers.Close(), c.machines.KeepWritten()}
	for _, n := range c.nodes.All {
		n.Runtime.PowerOff()
		errs = append(errs, c.machines.Close(n.Machine))
		if n.Network != nil {
			n.Network.Close()
		}
	}
	for _, m := range c.drivers.ControlPlanes {
		errs = append(errs, c.machines.Close(m))
	}
	c.images.End()
	errs = append(errs, c.drivers.StopStandIns(), c.run.leave(c))
	return errors.Join(errs...)
}

// Interrupt ends the cluster's present run with err. It may be called from any goroutine.
func (c *Simulation) Interrupt(err error) { c.World.Kernel.Interrupt(err) }

// Nodes returns the names of the nodes.
func (c *Simulation) Nodes() []string { return c.nodes.Names() }

// Controllers returns the names of the controllers and sidecars. For a sidecar with replicas, these
// are the name of each replica, of all replicas together, and of the leader.
func (c *Simulation) Controllers() []string { return c.controllers.Names() }
