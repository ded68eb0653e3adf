package sim

import (
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
	LivenessProbeOptions      = fakecontroller.LivenessProbeOptions
	SidecarFlags              = fakecontroller.SidecarFlags
	SnapshotControllerOptions = fakecontroller.SnapshotControllerOptions
)

// addSidecars adds what runs beside a driver's controller plugin, but for what somebody
// else runs.
func (c *Simulation) addSidecars(d *driver) {
	c.addLivenessProbes(d)
	p := d.controller
	if p == nil {
		return
	}
	at := sidecar.Target{Driver: d.Name, Machine: p.machine, Socket: p.socket}
	promises := sidecar.Promises{Capabilities: d.promised, ExpandsOnNodes: d.expandsOnNodes()}
	for _, s := range d.Sidecars.OfController() {
		if s.RunsBeside(promises) && !d.external(Sidecar(s.Name())) {
			start := func() fakecontroller.Program { return s.Start(c.World, c.Wire, at) }
			c.controllers = append(c.controllers, &controller{name: s.Name() + "/" + d.Name, sidecar: s.Name(), beside: p, start: start})
		}
	}
}

// besides are the sidecars of a plugin, but for its registrar.
func (c *Simulation) besides(p *plugin) (all []*controller) {
	for _, ctl := range c.controllers {
		if ctl.beside == p {
			all = append(all, ctl)
		}
	}
	return all
}

// registrarOf is the registrar of a node's plugin, which is down.
func (c *Simulation) registrarOf(p *plugin) *registrar.Registrar {
	o := registrar.Options{Node: p.node, Machine: p.machine, Endpoint: p.socket, Driver: p.driver.Name, StaysWhenRefused: p.driver.Sidecars.Registrar.Refused == registrar.RefusedStays}
	if p.registry != "" {
		o.RegistrationDir = path.Join(fakekubelet.RegistryDir, p.registry)
	}
	if p.driver.Sidecars.Registrar.Restart == sidecar.RestartNever {
		o.RestartDelay = func(int) time.Duration { return -1 }
	}
	return registrar.New(c.World, c.Wire, o)
}
