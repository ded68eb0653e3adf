package component

import (
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/metric"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// Component is one running program. Its processes share its memory and its informer cache, and
// crash together. A restart creates a new Component.
type Component struct {
	*World
	// Name is the program's name in events and traces, such as "kubelet".
	Name string
	// Node is the node on which the program runs; empty for the control plane.
	Node string
	// Version is its version of Kubernetes; by default the control plane's.
	Version version.Version
	// Group is the group of its processes.
	Group kernel.Group
	// Cache is its informer cache, which may lag behind the API.
	Cache *store.View
	// Metrics are its metrics, which restart with it.
	Metrics metric.Registry

	informer *kernel.Process
	// The method deliver as a function value. It is created only once, because an informer needs it
	// after each delivery.
	goesOn  func(*kernel.Process)
	sync    initialSync
	late    []*kernel.Process // waiting for an informer that syncs later
	events  eventLog
	limits  *limits
	byGroup map[string]*limit // by API group; if set, it replaces limits
	pace    *Pace
}

// Start returns a component without processes. Under an exploring strategy, its cache lags behind
// the API by the strategy's choice.
func (w *World) Start(name, node string) *Component {
	c := &Component{World: w, Name: name, Node: node, Version: w.Version}
	c.Group = kernel.Group{Name: c.programName(), Apart: true, Place: node}
	c.Cache = w.Store.NewView(c.Group.Name)
	if w.Kernel.Explores() {
		c.goesOn = c.deliver
		c.informer = c.Go("informer", c.goesOn)
		c.Cache.SetLag(c.informer.Wake)
	}
	return c
}

// programName returns the name of the component's group, a prefix of its processes' names.
func (c *Component) programName() string {
	name := c.Named(c.Name)
	if c.Node != "" {
		name += "/" + c.Node
	}
	return name
}

func (c *Component) processName(part string) string {
	if part == "" {
		return c.Group.Name
	}
	return c.Group.Name + "/" + part
}

// Go starts a process of the component.
func (c *Component) Go(part string, body func(*kernel.Process)) *kernel.Process {
	return c.Kernel.Spawn(&c.Group, c.processName(part), body)
}

// Crash ends the component immediately. Its memory is lost, but its writes stay.
func (c *Component) Crash() {
	c.Group.Crash()
	c.recordCacheUpdate(c.Cache.Pending(), trace.CacheUpdate{Gone: true})
	c.Cache.Close()
}
