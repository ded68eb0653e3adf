package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/wire"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
)

// Drivers are the drivers of a cluster and their plugins.
type Drivers struct {
	// All are in the order of the options.
	All         []*Driver
	World       *component.World
	Wire        *wire.Wire
	Nodes       *Nodes
	Controllers *Controllers
	Checks      *Checks
	Awaiting    AwaitingRestart
	Objects     *Objects
	// ControlPlanes are the computers on which controller plugins run, one for each replica.
	ControlPlanes []machine.Machine
	// Dir returns the directory of the run.
	Dir func() string
	// Interrupt ends waits in wall time.
	Interrupt context.Context
	// SnapshotController are the flags of the controller that starts with the first driver that can
	// make snapshots.
	SnapshotController fakecontroller.SnapshotControllerOptions
	// Addons are the programs of CSI-Addons, and AddonsManager the flags of their manager.
	// AddonsHost is the address of sidecars if the manager is external; otherwise it is empty.
	Addons        fakecontroller.Addons
	AddonsManager fakecontroller.AddonsManagerOptions
	AddonsHost    string
	// HaveImages means that drivers may run in pods.
	HaveImages bool
	// Died are the programs that ended by themselves.
	Died []judged.Death

	addonsPods addonsPods
}

// Plugins lists all instances of a driver, the controller's first, then by node in the cluster's
// order; none without a driver.
func (ds *Drivers) Plugins(d *Driver) []*Plugin {
	var all []*Plugin
	if d == nil {
		return nil
	}
	if d.Controller != nil && d.Controller.Node == "" {
		all = append(append(all, d.Controller), d.replicas...)
	}
	for _, n := range ds.Nodes.All {
		if p := d.Nodes[n.Name]; p != nil {
			all = append(all, p)
		}
	}
	return append(all, d.further...)
}

// Find returns the driver with a name; nil for none.
func (ds *Drivers) Find(name string) *Driver {
	i := slices.IndexFunc(ds.All, func(d *Driver) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return ds.All[i]
}

// Named returns the driver of a name.
func (ds *Drivers) Named(name string) (*Driver, error) {
	if d := ds.Find(name); d != nil {
		return d, nil
	}
	return nil, &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: fmt.Sprintf("there is no such driver; there are %v", ds.Names())}
}

// Names returns the names of the drivers.
func (ds *Drivers) Names() []string {
	var names []string
	for _, d := range ds.All {
		names = append(names, d.Name)
	}
	return names
}

// NodesOf returns the names of the nodes on which a driver has a plugin.
func (ds *Drivers) NodesOf(name string) []string {
	var nodes []string
	for _, p := range ds.Plugins(ds.Find(name)) {
		if p.Node != "" && p.Name == "" {
			nodes = append(nodes, p.Node)
		}
	}
	return nodes
}

// Plugin finds a driver's plugin on a node, or its controller plugin. The name may be
// "driver/plugin" for a further plugin of the node, "driver/2" for a replica.
func (ds *Drivers) Plugin(name, node string) (*Plugin, error) {
	name, further, _ := strings.Cut(name, "/")
	d, err := ds.Named(name)
	if err != nil {
		return nil, err
	}
	p := d.Nodes[node]
	switch {
	case further != "" && node == "":
		p = d.replica(further)
	case further != "":
		p = d.furtherPlugin(further, node)
	case node == "":
		p = d.Controller
	}
	if p == nil {
		return nil, &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: fmt.Sprintf("it has no plugin on %q", node)}
	}
	return p, nil
}

// meant returns the plugins with a name: without a node all replicas of the controller
// plugin, unless the name is the name of one replica.
func (ds *Drivers) meant(name, node string) ([]*Plugin, error) {
	p, err := ds.Plugin(name, node)
	if err != nil {
		return nil, err
	}
	if node == "" && name == p.Driver.Name {
		return append([]*Plugin{p}, p.Driver.replicas...), nil
	}
	return []*Plugin{p}, nil
}

// each calls do for each plugin with a name.
func (ds *Drivers) each(name, node string, do func(*Plugin) error) error {
	plugins, err := ds.meant(name, node)
	errs := []error{err}
	for _, p := range plugins {
		errs = append(errs, do(p))
	}
	return errors.Join(errs...)
}

// pluginAt names the plugin that a call is made to: "driver" or "driver/plugin".
func (ds *Drivers) pluginAt(at wire.Site) string {
	d := ds.Find(at.Driver)
	if d == nil {
		return at.Driver
	}
	for _, p := range d.replicas {
		if p.servesAt(at) {
			return fmt.Sprintf("%s/%d", d.Name, p.Replica)
		}
	}
	if at.Node == "" && len(d.replicas) > 0 {
		return d.Name + "/1"
	}
	for _, p := range d.on(at.Node) {
		if p.Socket == at.Socket && p.Name != "" {
			return d.Name + "/" + p.Name
		}
	}
	return at.Driver
}

// serves reports whether the plugin of a driver on a node runs.
func (ds *Drivers) serves(driver, node string) bool {
	p, err := ds.Plugin(driver, node)
	return err == nil && p.Running
}

// hasProgram reports whether the run starts the plugins of a driver as programs.
func (ds *Drivers) hasProgram(name string) bool {
	d := ds.Find(name)
	return d != nil && d.IsProgram
}

// machinesOf returns the machines of the nodes that a driver knows by an id.
func (ds *Drivers) machinesOf(driver, id string) (all []machine.Machine) {
	d := ds.Find(driver)
	for _, n := range ds.Nodes.All {
		if d != nil && ds.RegisteredID(d, n.Name) == id {
			all = append(all, n.Machine)
		}
	}
	return all
}

// values returns the plugins in the order of their nodes' names.
func values(plugins map[string]*Plugin) []*Plugin {
	var all []*Plugin
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		all = append(all, plugins[name])
	}
	return all
}
