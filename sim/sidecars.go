package sim

import (
	"cmp"
	"path"
	"time"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
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

// addSidecars adds the sidecars beside a driver's controller plugin, except for external ones.
func (c *Simulation) addSidecars(d *driver) {
	c.addLivenessProbes(d)
	promises := sidecar.Promises{Capabilities: d.promised, ExpandsOnNodes: d.expandsOnNodes()}
	elections, all := map[string]*sidecar.Election{}, d.Sidecars.OfController()
	for _, p := range d.controllers() {
		for _, s := range all {
			if s.RunsBeside(promises) && !d.external(Sidecar(s.Name())) && !onNodes(s) {
				if elections[s.Name()] == nil {
					elections[s.Name()] = &sidecar.Election{}
				}
				c.addSidecar(s, p, elections[s.Name()])
			}
		}
	}
	for _, n := range c.nodes {
		for _, s := range all {
			if p := d.nodes[n.Name]; p != nil && onNodes(s) && !d.external(Sidecar(s.Name())) {
				c.addNodeSidecar(s, p)
			}
		}
	}
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
		ctl.replica = fakecontroller.Replica{Of: ctl.name, Pod: p.podName()}
		if lock := s.Lock(p.driver.Name); lock != "" {
			ctl.replica.Lock = sidecar.Sanitized(lock)
		}
		ctl.name = replicaName(ctl.name, p)
	}
}

// addNodeSidecar adds one program beside the plugin of a node. Its name ends in that of the node;
// without it the name is that of all of them.
func (c *Simulation) addNodeSidecar(s sidecar.Sidecar, p *plugin) {
	ctl := c.sidecar(s, p, sidecar.Target{Driver: p.driver.Name, Node: p.node, Machine: p.machine, Socket: p.socket})
	ctl.replica.Of = ctl.name
	ctl.name += "/" + p.node
}

func (c *Simulation) sidecar(s sidecar.Sidecar, p *plugin, at sidecar.Target) *controller {
	ctl := &controller{
		name: s.Name() + "/" + p.driver.Name, sidecar: s.Name(), beside: p,
		start: func() fakecontroller.Program { return s.Start(c.World, c.Wire, at) },
	}
	c.controllers = append(c.controllers, ctl)
	return ctl
}

// besides are the sidecars of a plugin, except its registrar.
func (c *Simulation) besides(p *plugin) (all []*controller) {
	for _, ctl := range c.controllers {
		if ctl.beside == p {
			all = append(all, ctl)
		}
	}
	return all
}

// registrarOf is the stopped registrar of a node's plugin.
func (c *Simulation) registrarOf(p *plugin) *registrar.Registrar {
	o := registrar.Options{Node: p.node, Machine: p.machine, Endpoint: p.socket, Driver: p.driver.Name, StaysWhenRefused: cmp.Or(p.refused, p.driver.Sidecars.Registrar.Refused) == registrar.RefusedStays}
	if p.registry != "" {
		o.RegistrationDir = path.Join(fakekubelet.RegistryDir, p.registry)
	}
	if p.driver.Sidecars.Registrar.Restart == sidecar.RestartNever {
		o.RestartDelay = func(int) time.Duration { return -1 }
	}
	return registrar.New(c.World, c.Wire, o)
}
