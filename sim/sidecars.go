package sim

import (
	"path"
	"time"

	"github.com/csisim/csisim/drivers/registrar"
	"github.com/csisim/csisim/fakecontroller/attacher"
	"github.com/csisim/csisim/fakecontroller/healthmonitor"
	"github.com/csisim/csisim/fakecontroller/provisioner"
	"github.com/csisim/csisim/fakecontroller/resizer"
	"github.com/csisim/csisim/fakecontroller/snapshotter"
	"github.com/csisim/csisim/fakekubelet/pluginmanager"
)

// Sidecars are the flags of a driver's sidecars. Which driver they serve, and where,
// is filled in.
type Sidecars struct {
	Provisioner provisioner.Options
	Attacher    attacher.Options
	Resizer     resizer.Options
	Snapshotter snapshotter.Options
	// HealthMonitor is csi-external-health-monitor-controller.
	HealthMonitor healthmonitor.Options
	// RegistrarStaysDown leaves node-driver-registrar down when it has exited, until
	// StartRegistrar. Default: false, it is restarted as in a pod.
	RegistrarStaysDown bool
	// RegistrarStaysWhenRefused leaves the registrar running when the kubelet refuses the
	// driver. Default: false, it exits as node-driver-registrar does.
	RegistrarStaysWhenRefused bool
}

// addSidecars adds what runs beside a driver's controller plugin, but for what somebody
// else runs: csi-provisioner and csi-attacher always, the others beside drivers that can
// use them.
func (c *Simulation) addSidecars(d *driver) {
	p := d.controller
	if p == nil {
		return
	}
	flags := d.Sidecars
	sidecar := func(name Sidecar, start func() crasher) {
		if !d.external(name) {
			c.controllers = append(c.controllers, &controller{name: string(name) + "/" + d.Name, start: start})
		}
	}
	flags.Provisioner.Driver, flags.Provisioner.Machine, flags.Provisioner.Socket = d.Name, p.machine, p.socket
	sidecar(Provisioner, func() crasher { return provisioner.Start(c.World, c.Wire, flags.Provisioner) })
	flags.Attacher.Driver, flags.Attacher.Machine, flags.Attacher.Socket = d.Name, p.machine, p.socket
	sidecar(Attacher, func() crasher { return attacher.Start(c.World, c.Wire, flags.Attacher) })
	if d.promised["EXPAND_VOLUME"] || d.promised["MODIFY_VOLUME"] || d.expandsOnNodes() {
		flags.Resizer.Driver, flags.Resizer.Machine, flags.Resizer.Socket = d.Name, p.machine, p.socket
		sidecar(Resizer, func() crasher { return resizer.Start(c.World, c.Wire, flags.Resizer) })
	}
	if d.promised["CREATE_DELETE_SNAPSHOT"] {
		flags.Snapshotter.Driver, flags.Snapshotter.Machine, flags.Snapshotter.Socket = d.Name, p.machine, p.socket
		sidecar(Snapshotter, func() crasher { return snapshotter.Start(c.World, c.Wire, flags.Snapshotter) })
	}
	if d.promised["VOLUME_CONDITION"] && (d.promised["LIST_VOLUMES"] || d.promised["GET_VOLUME"]) {
		flags.HealthMonitor.Driver, flags.HealthMonitor.Machine, flags.HealthMonitor.Socket = d.Name, p.machine, p.socket
		sidecar(HealthMonitor, func() crasher { return healthmonitor.Start(c.World, c.Wire, flags.HealthMonitor) })
	}
}

// registrarOf is the registrar of a node's plugin, which is down.
func (c *Simulation) registrarOf(p *plugin) *registrar.Registrar {
	o := registrar.Options{Node: p.node, Machine: p.machine, Endpoint: p.socket, Driver: p.driver.Name, StaysWhenRefused: p.driver.Sidecars.RegistrarStaysWhenRefused}
	if p.registry != "" {
		o.RegistrationDir = path.Join(pluginmanager.RegistryDir, p.registry)
	}
	if p.driver.Sidecars.RegistrarStaysDown {
		o.RestartDelay = func(int) time.Duration { return -1 }
	}
	return registrar.New(c.World, c.Wire, o)
}
