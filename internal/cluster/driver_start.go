package cluster

import (
	"cmp"
	"errors"
	"path"
	"slices"

	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/machine"
)

// Add adds a driver, and starts it unless it is installed later.
func (ds *Drivers) Add(d *Driver) error {
	d.Nodes, d.elections = map[string]*Plugin{}, map[string]*sidecar.Election{}
	d.deployment = Deployment{World: ds.World, Objects: ds.Objects, Version: d.first()}
	ds.All = append(ds.All, d)
	if d.Later {
		d.before, _ = d.holds()
		return nil
	}
	return ds.start(d)
}

// SeeMachines notes the mounts and processes of all machines.
func (ds *Drivers) SeeMachines() {
	for _, n := range ds.Nodes.All {
		ds.Checks.Watch.See(n.Machine, nil)
	}
	for _, m := range ds.ControlPlanes {
		ds.Checks.Watch.See(m, nil)
	}
}

// start starts a driver's plugins and their registrars, and makes its CSIDriver
// object.
func (ds *Drivers) start(d *Driver) error {
	// Stand-ins outlive the programs that they serve.
	if len(d.standIns) == 0 {
		if err := ds.startStandIns(d); err != nil {
			return err
		}
	}
	d.Directory = cmp.Or(d.Name, "unnamed")
	if d.ControllerPlugins > 0 {
		p, err := ds.newPlugin(d, "", ds.ControlPlanes[0], 0)
		if err != nil {
			return err
		}
		d.Controller = p
		if err := ds.startReplicas(d); err != nil {
			return err
		}
	}
	for _, n := range ds.Nodes.All {
		if !d.RunsOn(n.Name) {
			continue
		}
		p, err := ds.newPlugin(d, n.Name, n.Machine, 0)
		if err != nil {
			return err
		}
		d.Nodes[n.Name] = p
		if !d.Lacks(registrar.Program) {
			p.registrar = ds.registrarOf(p)
		}
		if p.Running && p.registrar != nil {
			p.registrar.Start()
		}
		if d.IsSingle {
			d.Controller = p
		}
	}
	if err := ds.addFurther(d); err != nil {
		return err
	}
	var err error
	if d.promised, err = d.promises(); err != nil {
		return err
	}
	if !d.Later {
		d.before, _ = d.holds() // if the driver does not answer, its contents are requested later
	}
	return ds.installCSIDriver(d)
}

// newPlugin creates and starts one instance. Its socket is at the path that drivers and kubelets
// expect on a node.
func (ds *Drivers) newPlugin(d *Driver, node string, m machine.Machine, replica int) (*Plugin, error) {
	p := &Plugin{Driver: d, Node: node, Replica: replica, Machine: m}
	if err := ds.furnish(p, d.Directory); err != nil {
		return nil, err
	}
	if slices.Contains(d.Down, node) {
		return p, nil
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	if d.IsExisting || d.Name == "" {
		return p, p.learnName()
	}
	return p, nil
}

// startReplicas gives the first replica of a driver's controller plugin its number, and starts the
// others.
func (ds *Drivers) startReplicas(d *Driver) error {
	if d.ControllerPlugins < 2 {
		return nil
	}
	d.Controller.Replica = 1
	for n := 2; n <= d.ControllerPlugins; n++ {
		p, err := ds.newPlugin(d, "", ds.ControlPlanes[n-1], n)
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, p)
	}
	return nil
}

// addFurther makes a driver's further plugins, which are down.
func (ds *Drivers) addFurther(d *Driver) error {
	for _, o := range d.Further {
		n, err := ds.Nodes.Named(o.Node)
		if err != nil {
			return err
		}
		p := &Plugin{
			Driver: d, Node: n.Name, Name: o.Name, id: o.NodeID, Machine: n.Machine,
			registry: o.Registry, refused: o.Refused,
		}
		if err := ds.furnish(p, d.Directory+"-"+o.Name); err != nil {
			return err
		}
		if !d.Lacks(registrar.Program) {
			p.registrar = ds.registrarOf(p)
		}
		d.further = append(d.further, p)
	}
	return nil
}

// furnish gives a plugin its sockets and its backend.
func (ds *Drivers) furnish(p *Plugin, directory string) (err error) {
	p.interrupt, p.elapsed = ds.Interrupt, ds.World.Kernel.Elapsed
	dir := path.Join(p.Machine.Layout().KubeletDir(), "plugins", directory)
	p.Socket, p.Addons = path.Join(dir, p.Driver.Socket), path.Join(dir, p.Driver.AddonsSocket)
	p.Backend, err = p.Driver.Backend(p)
	return err
}

// Close ends all plugins, for the end of the cluster.
func (ds *Drivers) Close() error {
	errs := []error{ds.stopPrograms()} // concurrently, because each may take long
	for _, d := range ds.All {
		errs = append(errs, d.stop())
	}
	return errors.Join(errs...)
}

// stop ends all of a driver's plugins, for the end of the cluster.
func (d *Driver) stop() error {
	var first error
	for _, p := range append(append(append([]*Plugin{d.Controller}, d.replicas...), values(d.Nodes)...), d.further...) {
		if p == nil {
			continue
		}
		if err := p.stop(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
