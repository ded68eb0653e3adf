package sim

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/version"
)

// Sidecars are the flags of a driver's sidecars.
type Sidecars = fakecontroller.Sidecars

// The flags of each sidecar, and those that all have.
type (
	ProvisionerOptions        = fakecontroller.ProvisionerOptions
	AttacherOptions           = fakecontroller.AttacherOptions
	ResizerOptions            = fakecontroller.ResizerOptions
	SnapshotterOptions        = fakecontroller.SnapshotterOptions
	HealthMonitorOptions      = fakecontroller.HealthMonitorOptions
	RegistrarFlags            = fakecontroller.RegistrarFlags
	ClusterRegistrarOptions   = fakecontroller.ClusterRegistrarOptions
	LivenessProbeOptions      = fakecontroller.LivenessProbeOptions
	SidecarFlags              = fakecontroller.SidecarFlags
	SnapshotControllerOptions = fakecontroller.SnapshotControllerOptions
)

// startControllers starts those of Kubernetes, and the sidecars of all drivers.
func (c *Simulation) startControllers() error {
	c.controllers.AddManager(fakecontroller.ControllerManager...)
	if slices.Contains(c.options.Controllers, fakecontroller.SELinuxWarningName) && c.World.Version.Has(version.SELinuxWarnings) {
		c.controllers.AddManager(fakecontroller.SELinuxWarning)
	}
	c.controllers.Add(fakecontroller.Scheduler)
	c.addSnapshotController()
	c.reachAddons()
	for _, d := range c.drivers {
		c.addSidecars(d)
		if err := c.addAddons(d); err != nil {
			return err
		}
	}
	for _, ctl := range c.controllers.All {
		if !ctl.Down {
			ctl.Run()
		}
	}
	return nil
}

// addSnapshotController adds the controller as soon as some driver can make snapshots.
func (c *Simulation) addSnapshotController() {
	if !c.needsSnapshotController() {
		return
	}
	for _, ctl := range fakecontroller.SnapshotController(c.options.SnapshotController) {
		c.controllers.Add(ctl)
	}
}

// addSidecars adds the sidecars of a driver, except for external ones.
func (c *Simulation) addSidecars(d *driver) {
	for _, p := range c.plugins(d) {
		c.addSidecarsOf(p)
	}
}

// addSidecarsOf adds the sidecars in the pod of a plugin: the ones beside a controller plugin, and
// the ones that run on nodes.
func (c *Simulation) addSidecarsOf(p *plugin) {
	c.addLivenessProbe(p)
	d := p.driver
	isController, onNode := slices.Contains(d.controllers(), p), d.nodes[p.node] == p
	promises := sidecar.Promises{Capabilities: d.promised, ExpandsOnNodes: isController && p.expandsOnNodes()}
	for _, s := range p.sidecars().OfController() {
		switch {
		case p.lacks(Sidecar(s.Name())):
		case onNodes(s) && onNode:
			c.addNodeSidecar(s, p)
		case !onNodes(s) && isController && s.RunsBeside(promises):
			c.addSidecar(s, p, d.election(s.Name()))
		}
	}
}

// election returns the election of a sidecar's replicas.
func (d *driver) election(program string) *sidecar.Election {
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
func (c *Simulation) addSidecar(s sidecar.Sidecar, p *plugin, election *sidecar.Election) {
	at := sidecar.Target{Driver: p.driver.Name, Machine: p.machine, Socket: p.socket, Replica: p.replica, Pod: p.podName(), Election: election}
	ctl := c.sidecar(s, p, at)
	if p.replica > 0 {
		ctl.Replica = fakecontroller.Replica{Of: ctl.Name, Pod: p.podName()}
		if lock := s.Lock(p.driver.Name); lock != "" {
			ctl.Replica.Lock = sidecar.Sanitized(lock)
		}
		ctl.Name = replicaName(ctl.Name, p)
	}
}

// addNodeSidecar adds one program beside the plugin of a node. Its name ends with the node's name;
// the name without that is the name of all of them.
func (c *Simulation) addNodeSidecar(s sidecar.Sidecar, p *plugin) {
	ctl := c.sidecar(s, p, sidecar.Target{Driver: p.driver.Name, Node: p.node, Machine: p.machine, Socket: p.socket})
	ctl.Replica.Of = ctl.Name
	ctl.Name += "/" + p.node
}

func (c *Simulation) sidecar(s sidecar.Sidecar, p *plugin, at sidecar.Target) *cluster.Controller {
	return c.addBeside(p, s.Name(), s.Name()+"/"+p.driver.Name, func(fakecontroller.Cluster) fakecontroller.Program { return s.Start(c.World, c.Wire, at) })
}

// addBeside adds a program to the sidecars of a plugin.
func (c *Simulation) addBeside(p *plugin, program, name string, start func(fakecontroller.Cluster) fakecontroller.Program) *cluster.Controller {
	s := &cluster.Controller{Controller: fakecontroller.Controller{Name: name, Start: start}, Sidecar: program}
	c.controllers.AddSidecar(s)
	p.beside = append(p.beside, s)
	return s
}

// registrarOf is the stopped registrar of a node's plugin.
func (c *Simulation) registrarOf(p *plugin) *registrar.Registrar {
	o := registrar.Options{Node: p.node, Machine: p.machine, Endpoint: p.socket, Driver: p.driver.Name, StaysWhenRefused: cmp.Or(p.refused, p.sidecars().Registrar.Refused) == registrar.RefusedStays}
	if p.registry != "" {
		o.RegistrationDir = path.Join(registrar.Directory(p.machine), p.registry)
	}
	if p.sidecars().Registrar.Restart == sidecar.RestartNever {
		o.RestartDelay = func(int) time.Duration { return -1 }
	}
	return registrar.New(c.World, c.Wire, o)
}

// sidecars are the flags of the sidecars in the pod of a plugin.
func (p *plugin) sidecars() Sidecars {
	if own := p.driver.Deployments[p.version].Sidecars; own != nil {
		return *own
	}
	return p.driver.Sidecars
}

// lacks reports whether the simulation does not run a sidecar in the pod of a plugin: another
// program runs it, or there is none.
func (p *plugin) lacks(s Sidecar) bool {
	release := p.driver.Deployments[p.version]
	if release.Sidecars == nil {
		return p.driver.external(s)
	}
	return slices.Contains(p.driver.External, s) || slices.Contains(release.Without, s)
}

// endSidecars ends the sidecars in a pod. Sidecars of CSI-Addons have separate pods.
func (c *Simulation) endSidecars(p *plugin) {
	p.endProbes()
	var gone []*cluster.Controller
	p.beside = slices.DeleteFunc(p.beside, func(s *cluster.Controller) bool {
		if s.Sidecar == fakecontroller.AddonsSidecar {
			return false
		}
		c.awaitingRestart.Settle(s)
		gone = append(gone, s)
		return true
	})
	c.controllers.Remove(gone)
}

// renewSidecars starts the sidecars of a new pod: the sidecars of its release for which the driver
// has the capabilities.
func (c *Simulation) renewSidecars(p *plugin) {
	if !p.renewed {
		return
	}
	p.renewed = false
	c.endSidecars(p)
	d, first := p.driver, len(c.controllers.All)
	if slices.Contains(d.controllers(), p) {
		// Sidecars request the capabilities of a driver that does not answer, too, and report it.
		if promised, err := p.promises(); err == nil {
			d.promised = promised
		}
		c.addSnapshotController()
	}
	c.addSidecarsOf(p)
	for _, ctl := range c.controllers.All[first:] {
		ctl.Run()
	}
}
