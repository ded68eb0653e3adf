package cluster

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
)

// AddSnapshotController adds the snapshot-controller if a driver can make snapshots.
func (ds *Drivers) AddSnapshotController() {
	if !ds.needsSnapshotController() {
		return
	}
	for _, ctl := range fakecontroller.SnapshotController(ds.SnapshotController) {
		ds.Controllers.Add(ctl)
	}
}

// needsSnapshotController reports whether any driver takes snapshots, and no external
// snapshot-controller runs.
func (ds *Drivers) needsSnapshotController() bool {
	return slices.ContainsFunc(ds.All, func(d *Driver) bool { return d.promised["CREATE_DELETE_SNAPSHOT"] }) &&
		!slices.ContainsFunc(ds.All, func(d *Driver) bool { return d.Lacks(fakecontroller.SnapshotControllerName) })
}

// AddSidecars adds the sidecars of a driver, except for external ones.
func (ds *Drivers) AddSidecars(d *Driver) error {
	for _, p := range ds.Plugins(d) {
		ds.addSidecarsOf(p)
	}
	return ds.addAddons(d)
}

// addSidecarsOf adds the sidecars in the pod of a plugin: sidecars beside a controller plugin, or
// sidecars on nodes.
func (ds *Drivers) addSidecarsOf(p *Plugin) {
	ds.addLivenessProbe(p)
	d := p.Driver
	isController, onNode := slices.Contains(d.Controllers(), p), d.Nodes[p.Node] == p
	promises := sidecar.Promises{Capabilities: d.promised, ExpandsOnNodes: isController && p.expandsOnNodes()}
	for _, s := range p.Sidecars().OfController() {
		switch {
		case p.lacks(s.Name()):
		case onNodes(s) && onNode:
			ds.addNodeSidecar(s, p)
		case !onNodes(s) && isController && s.RunsBeside(promises):
			ds.addSidecar(s, p, d.election(s.Name()))
		}
	}
}

// election returns the election of a sidecar's replicas.
func (d *Driver) election(program string) *sidecar.Election {
	if d.elections[program] == nil {
		d.elections[program] = &sidecar.Election{}
	}
	return d.elections[program]
}

func onNodes(s sidecar.Sidecar) bool {
	n, ok := s.(sidecar.NodeSidecar)
	return ok && n.OnNodes()
}

// addSidecar adds one program beside a controller plugin.
func (ds *Drivers) addSidecar(s sidecar.Sidecar, p *Plugin, election *sidecar.Election) {
	at := sidecar.Target{Driver: p.Driver.Name, Machine: p.Machine, Socket: p.Socket, Replica: p.Replica, Pod: p.podName(), Election: election}
	ctl := ds.sidecar(s, p, at)
	if p.Replica > 0 {
		ctl.Replica = fakecontroller.Replica{Of: ctl.Name, Pod: p.podName()}
		if lock := s.Lock(p.Driver.Name); lock != "" {
			ctl.Replica.Lock = sidecar.Sanitized(lock)
		}
		ctl.Name = replicaName(ctl.Name, p)
	}
}

// addNodeSidecar adds one program beside the plugin of a node. Its name ends with the node's name.
// The name without this ending means the program on all nodes.
func (ds *Drivers) addNodeSidecar(s sidecar.Sidecar, p *Plugin) {
	ctl := ds.sidecar(s, p, sidecar.Target{Driver: p.Driver.Name, Node: p.Node, Machine: p.Machine, Socket: p.Socket})
	ctl.Replica.Of = ctl.Name
	ctl.Name += "/" + p.Node
}

func (ds *Drivers) sidecar(s sidecar.Sidecar, p *Plugin, at sidecar.Target) *Controller {
	return ds.addBeside(p, s.Name(), s.Name()+"/"+p.Driver.Name, func(fakecontroller.Cluster) fakecontroller.Program { return s.Start(ds.World, ds.Wire, at) })
}

// replicaName returns the name of a sidecar beside a replica.
func replicaName(name string, p *Plugin) string {
	if p.Replica == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, p.Replica)
}

// addBeside adds a program to the sidecars of a plugin.
func (ds *Drivers) addBeside(p *Plugin, program, name string, start func(fakecontroller.Cluster) fakecontroller.Program) *Controller {
	s := &Controller{Controller: fakecontroller.Controller{Name: name, Start: start}, Sidecar: program}
	ds.Controllers.AddSidecar(s)
	p.beside = append(p.beside, s)
	return s
}

// registrarOf returns the stopped registrar of a node's plugin.
func (ds *Drivers) registrarOf(p *Plugin) *registrar.Registrar {
	o := registrar.Options{Node: p.Node, Machine: p.Machine, Endpoint: p.Socket, Driver: p.Driver.Name, StaysWhenRefused: cmp.Or(p.refused, p.Sidecars().Registrar.Refused) == registrar.RefusedStays}
	if p.registry != "" {
		o.RegistrationDir = path.Join(registrar.Directory(p.Machine), p.registry)
	}
	if p.Sidecars().Registrar.Restart == sidecar.RestartNever {
		o.RestartDelay = func(int) time.Duration { return -1 }
	}
	return registrar.New(ds.World, ds.Wire, o)
}

// Sidecars returns the flags of the sidecars in the pod of a plugin.
func (p *Plugin) Sidecars() fakecontroller.Sidecars {
	if own := p.Driver.Releases[p.Version].Sidecars; own != nil {
		return *own
	}
	return p.Driver.Sidecars
}

// lacks reports whether the simulation does not run a sidecar in the pod of a plugin: another
// program runs it, or there is none.
func (p *Plugin) lacks(s string) bool {
	release := p.Driver.Releases[p.Version]
	if release.Sidecars == nil {
		return p.Driver.Lacks(s)
	}
	return slices.Contains(p.Driver.External, s) || slices.Contains(release.Without, s)
}

// Lacks reports whether the simulation does not run a sidecar of a driver: another program runs
// it, or there is none.
func (d *Driver) Lacks(s string) bool {
	return slices.Contains(d.External, s) || slices.Contains(d.Without, s)
}

// endSidecars ends the sidecars in a pod. Sidecars of CSI-Addons have separate pods.
func (ds *Drivers) endSidecars(p *Plugin) {
	p.endProbes()
	var gone []*Controller
	p.beside = slices.DeleteFunc(p.beside, func(s *Controller) bool {
		if s.Sidecar == fakecontroller.AddonsSidecar {
			return false
		}
		ds.Awaiting.Settle(s)
		gone = append(gone, s)
		return true
	})
	ds.Controllers.Remove(gone)
}

// renewSidecars starts the sidecars of a new pod: the sidecars of its release for which the driver
// has the capabilities.
func (ds *Drivers) renewSidecars(p *Plugin) {
	if !p.renewed {
		return
	}
	p.renewed = false
	ds.endSidecars(p)
	d, first := p.Driver, len(ds.Controllers.All)
	if slices.Contains(d.Controllers(), p) {
		// Sidecars also query a driver that does not answer, and report the failure.
		if promised, err := p.promises(); err == nil {
			d.promised = promised
		}
		ds.AddSnapshotController()
	}
	ds.addSidecarsOf(p)
	for _, ctl := range ds.Controllers.All[first:] {
		ctl.Run()
	}
}
