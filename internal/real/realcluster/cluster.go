// Package realcluster is a real cluster as the world of a scenario. Its API is reached through client-go; what the API
// shows is mirrored in a store, and becomes the run's trace together with the calls that the proxies in the drivers'
// pods record. Time is that of the wall clock.
//
// All that comes from outside waits in a queue that the scenario's goroutine empties while it waits: the store, the
// trace and the expectations need no locks.
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

// Machines are the computers of the nodes, by the names of the nodes.
type Machines interface {
	// Run runs a command on a node as root and returns what it printed.
	Run(ctx context.Context, node string, command ...string) (string, error)
	PowerOff(ctx context.Context, node string) error
	PowerOn(ctx context.Context, node string) error
}

// Options describe a cluster and what is deployed there.
type Options struct {
	Config   *rest.Config
	Machines Machines // nil if the nodes are reached through pods, of NodeImage
	// NodeImage is an image with csisim's program that the nodes have. Default: the nodes are not reached without Machines.
	NodeImage string
	// Reach says that the scenario does something on its nodes: whether that is permitted is seen at the start.
	Reach bool
	// Nodes are the nodes that the scenario knows; others are left alone.
	Nodes []string
	// NodeLabels are the labels that the scenario's nodes have besides their own.
	NodeLabels map[string]map[string]string
	// NodeTaints are the taints that they have besides.
	NodeTaints map[string][]corev1.Taint
	Drivers    []deploy.Driver
	// NoDataCheck keeps the containers of pods from writing to their volumes and from reading them.
	NoDataCheck bool
	Deploy      deploy.Options
	Sinks       []trace.Sink
}

// Cluster is a real cluster while a scenario runs on it.
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
	unseen   []written                    // what was applied and may not be in the mirror yet
	own      []made                       // the drivers' deployment
	later    map[string]bool              // drivers that are to be installed yet
	evicted  map[sim.Plugin]bool          // plugins that are kept off their nodes
	faults   []*fault.Fault               // that are in force
	dark     map[string]bool              // nodes without power
	silent   map[string]bool              // nodes whose kubelet was killed or stopped
	killed   map[string]victim            // controllers that are down, by name
	labelled map[string]map[string]string // the labels that the nodes had at first
	topology map[string][]string          // labels that nodes have got for the drivers, by node
	toDo     []func()                     // of pump
	allNodes int                          // of the cluster, with those that the scenario does not know
	pods     map[store.Key]bool           // that kubelets have begun to run
	known    map[string]bool              // pods by UID and volumes by name that the run has seen
	atFirst  map[string]map[string]bool   // what was on the nodes before the first step, by node
	violate  []verdict.Verdict
	data     *dataCheck
	forced   []string // volumes that their drivers did not delete at the end
}

// New begins to watch a cluster and deploys the drivers. Close takes away what was made.
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
	c := &Cluster{options: o, clients: clients, dynamic: objects, kinds: kinds, clock: newClock(), queue: newQueue(), later: map[string]bool{}, evicted: map[sim.Plugin]bool{}, dark: map[string]bool{}, silent: map[string]bool{}, killed: map[string]victim{}, labelled: map[string]map[string]string{}, topology: map[string][]string{}, pods: map[store.Key]bool{}, known: map[string]bool{}, atFirst: map[string]map[string]bool{}}
	if o.Machines == nil && o.NodeImage != "" {
		c.options.Machines = &NodePods{cluster: c, image: o.NodeImage, ready: map[string]bool{}}
	}
	c.ctx, c.end = context.WithCancelCause(ctx)
	idle := kernel.New(kernel.Options{}) // the world's, which has no processes here
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

// reachNodes sees whether commands can be run on the nodes, if the scenario needs that: better now than in the middle of it.
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

// Evidence is what expectations are held against.
func (c *Cluster) Evidence() *expect.Evidence {
	return &expect.Evidence{
		Journal: expect.NewJournal(c.world.Trace), Store: c.world.Store, Faults: &fault.Set{},
		Leftovers:  func() []ledger.Entry { return c.Ledger().Leaks },
		Violations: func() []verdict.Verdict { return c.violate },
		LostData:   func() []verdict.Verdict { return c.data.lost }, Unmounted: func() []verdict.Verdict { return nil }, Died: func() []expect.Death { return nil },
	}
}

// Trace records the run.
func (c *Cluster) Trace() *trace.Recorder { return c.world.Trace }

// Nodes are the names of the scenario's nodes.
func (c *Cluster) Nodes() []string { return slices.Clone(c.options.Nodes) }

// Drivers are the names of the drivers.
func (c *Cluster) Drivers() (names []string) {
	for _, d := range c.options.Drivers {
		names = append(names, c.options.Deploy.Scope.Plain(d.Name))
	}
	return names
}

// DriverNodes are the nodes with a driver's plugin.
func (c *Cluster) DriverNodes(driver string) []string {
	switch d := c.driver(driver); {
	case !d.HasNode() || c.later[d.Name]:
		return nil
	case d.Own != nil && !d.Own.OnEveryNode():
		return slices.DeleteFunc(c.Nodes(), func(node string) bool { return !c.IsInstalled(driver, node) })
	}
	return c.Nodes()
}

// Listed are not known: nobody but the sidecars asks a real cluster's drivers.
func (c *Cluster) Listed() []string { return nil }

// Written is nothing: a real cluster throws nothing away.
func (c *Cluster) Written() []string { return nil }

// Usage is not known.
func (c *Cluster) Usage() []sim.Usage { return nil }

// Apart is nothing: nodes are what they are.
func (c *Cluster) Apart() string { return "" }

// ReadData lets all pods that run read once more what was written to their volumes.
func (c *Cluster) ReadData() { c.data.readAll() }

// Interrupt ends what the cluster is doing.
func (c *Cluster) Interrupt(err error) { c.end(err) }

// environment is an error of the cluster and what it was asked for.
func environment(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &sim.EnvironmentError{Doing: fmt.Sprintf(format, args...), Err: err}
}
