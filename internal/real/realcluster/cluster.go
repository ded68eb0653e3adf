// Package realcluster runs a scenario on a real cluster. It accesses the API through client-go and
// mirrors the API's objects in a store. The run's trace consists of the changes of these objects,
// and the calls that the proxies in the drivers' pods record. Time is the wall clock.
//
// All external events wait in a queue that the scenario's goroutine empties while it waits, so that
// the store, the trace and the expectations need no locks.
package realcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// Machines are the computers of the nodes, by node name.
type Machines interface {
	// Run runs a command on a node as root and returns its output.
	Run(ctx context.Context, node string, command ...string) (string, error)
	PowerOff(ctx context.Context, node string) error
	PowerOn(ctx context.Context, node string) error
}

// Options describe a cluster and the drivers to deploy.
type Options struct {
	Config   *rest.Config
	Machines Machines // nil to run commands through pods of NodeImage
	// NodeImage is an image with csisim's program that the nodes have. Without NodeImage and
	// Machines, no commands run on nodes.
	NodeImage string
	// Reach means that the scenario has steps that run commands on nodes. New then fails at once if
	// that is not permitted.
	Reach bool
	// Nodes are the nodes of the scenario; csisim does not touch others.
	Nodes []string
	// NodeLabels are additional labels of the scenario's nodes.
	NodeLabels map[string]map[string]string
	// NodeTaints are additional taints of the scenario's nodes.
	NodeTaints map[string][]corev1.Taint
	Drivers    []deploy.Driver
	// NoDataCheck disables the writes and reads of the pods' containers in their volumes.
	NoDataCheck bool
	Deploy      deploy.Options
	Sinks       []trace.Sink
}

// Cluster is a real cluster that runs a scenario.
type Cluster struct {
	options  Options
	ctx      context.Context
	end      context.CancelCauseFunc
	clients  kubernetes.Interface
	dynamic  dynamic.Interface
	kinds    *restmapper.DeferredDiscoveryRESTMapper // of the API
	clock    *clock
	world    *component.World
	queue    *queue
	mirror   *mirror
	calls    *callLog
	watch    *ledger.Watch
	made     []made                       // by the scenario, in order
	unseen   []written                    // applied objects that may not be in the mirror yet
	own      []made                       // the drivers' deployment
	later    map[string]bool              // drivers that are installed by a later step
	evicted  map[sim.Plugin]bool          // plugins that must not run on their nodes
	faults   []*fault.Fault               // injected faults
	dark     map[string]bool              // nodes without power
	outages  map[string]int               // number of power cuts of each node
	silent   map[string]bool              // nodes with a kubelet that was killed or stopped
	killed   map[string]victim            // controllers that are down, by name
	labelled map[string]map[string]string // the original labels of the nodes
	topology map[string][]string          // labels of the drivers' topology, by node
	toDo     []func()                     // of pump
	// Number of nodes of the cluster, including those outside the scenario.
	allNodes int
	pods     map[store.Key]bool         // pods that kubelets have begun to run
	known    map[string]bool            // pods by UID and volumes by name that the run has seen
	atFirst  map[string]map[string]bool // files on the nodes before the first step, by node
	violate  []verdict.Verdict
	data     *dataCheck
	forced   []string // volumes that their drivers did not delete at the end
}

// New starts to watch a cluster and deploys the drivers. Close deletes the objects that the run has
// made.
func New(ctx context.Context, o Options) (*Cluster, error) {
	clients, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "reach the cluster", Err: err}
	}
	objects, err := dynamic.NewForConfig(o.Config)
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "reach the cluster", Err: err}
	}
	kinds := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clients.Discovery()))
	c := &Cluster{options: o, clients: clients, dynamic: objects, kinds: kinds, clock: newClock(), queue: newQueue(), later: map[string]bool{}, evicted: map[sim.Plugin]bool{}, dark: map[string]bool{}, outages: map[string]int{}, silent: map[string]bool{}, killed: map[string]victim{}, labelled: map[string]map[string]string{}, topology: map[string][]string{}, pods: map[store.Key]bool{}, known: map[string]bool{}, atFirst: map[string]map[string]bool{}}
	if o.Machines == nil && o.NodeImage != "" {
		c.options.Machines = &NodePods{cluster: c, image: o.NodeImage, ready: map[string]bool{}}
	}
	c.ctx, c.end = context.WithCancelCause(ctx)
	idle := kernel.New(kernel.Options{}) // the world's kernel, which has no processes here
	c.world = component.NewWorld(idle, store.New(store.Options{Now: time.Now}), trace.NewRecorder(c.clock))
	for _, sink := range o.Sinks {
		c.world.Trace.To(sink)
	}
	c.watch = ledger.NewWatch(c.world.Trace)
	c.calls = newCallLog(c)
	c.mirror = newMirror(c)
	c.data = newDataCheck(c)
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start() error {
	if err := c.checkNodes(); err != nil {
		return err
	}
	if err := c.awaitEarlier(); err != nil {
		return err
	}
	if err := c.furnishNodes(); err != nil {
		return err
	}
	if err := c.mirror.start(); err != nil {
		return err
	}
	if err := c.makeNamespace(); err != nil {
		return err
	}
	if err := c.keepOff(); err != nil {
		return err
	}
	go c.attend(askEvery, longestSilence)
	if err := c.reachNodes(); err != nil {
		return err
	}
	if err := c.awaitUnregistered(unregisterTime); err != nil {
		return err
	}
	for _, d := range c.options.Drivers {
		if d.Later {
			c.later[d.Name] = true
			continue
		}
		if err := c.deploy(d); err != nil {
			return err
		}
	}
	return nil
}

// reachNodes checks before the first step that commands can be run on the nodes, if the scenario
// needs that.
func (c *Cluster) reachNodes() error {
	if !c.options.Reach {
		return nil
	}
	for _, node := range c.options.Nodes {
		if _, err := c.run(node, "true"); err != nil {
			return err
		}
	}
	return nil
}

// Evidence returns the data for the checks of expectations.
func (c *Cluster) Evidence() *expect.Evidence {
	return &expect.Evidence{
		Journal: expect.NewJournal(c.world.Trace), Store: c.world.Store, Faults: &fault.Set{},
		Leftovers:  func() []ledger.Entry { return c.Ledger().Leaks },
		Violations: func() []verdict.Verdict { return c.violate },
		LostData:   func() []verdict.Verdict { return c.data.lost }, Unmounted: func() []verdict.Verdict { return nil }, Died: func() []expect.Death { return nil },
	}
}

// Trace returns the recorder of the run.
func (c *Cluster) Trace() *trace.Recorder { return c.world.Trace }

// Nodes returns the names of the scenario's nodes.
func (c *Cluster) Nodes() []string { return slices.Clone(c.options.Nodes) }

// Drivers returns the names of the drivers.
func (c *Cluster) Drivers() (names []string) {
	for _, d := range c.options.Drivers {
		names = append(names, c.options.Deploy.Scope.Plain(d.Name))
	}
	return names
}

// DriverNodes returns the nodes with a driver's plugin.
func (c *Cluster) DriverNodes(driver string) []string {
	switch d := c.driver(driver); {
	case !d.HasNode() || c.later[d.Name]:
		return nil
	case d.Own != nil && !d.Own.OnEveryNode():
		return slices.DeleteFunc(c.Nodes(), func(node string) bool { return !c.IsInstalled(driver, node) })
	}
	return c.Nodes()
}

// Listed returns nil: on a real cluster only the sidecars call the drivers.
func (c *Cluster) Listed() []string { return nil }

// Written returns nil: a real cluster discards no writes.
func (c *Cluster) Written() []string { return nil }

// Usage returns nil, because it is not measured.
func (c *Cluster) Usage() []sim.Usage { return nil }

// Apart returns "": real nodes need no isolation.
func (c *Cluster) Apart() string { return "" }

// ReadData makes all running pods read once more the data that they wrote to their volumes.
func (c *Cluster) ReadData() { c.data.readAll() }

// Interrupt ends the cluster's current operation.
func (c *Cluster) Interrupt(err error) { c.end(err) }

// environment wraps an error of the cluster with the operation that failed.
func environment(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &sim.EnvironmentError{Doing: fmt.Sprintf(format, args...), Err: err}
}
