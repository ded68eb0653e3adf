package sim

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/version"
)

// controller is one controller or sidecar: how to start it, and the running program.
type controller struct {
	name    string
	sidecar string  // its program; empty for a controller that is no sidecar
	beside  *plugin // of a sidecar
	replica fakecontroller.Replica
	manager bool // part of kube-controller-manager
	start   func() fakecontroller.Program
	running fakecontroller.Program
	pace    component.Pace
	down    bool // it is started on request
}

// run starts it, without the memory of an earlier instance.
func (c *controller) run() {
	c.running = c.start()
	c.running.SetPace(&c.pace)
}

// runs reports whether it was started and has neither been killed nor, as a sidecar
// may, exited for good.
func (c *controller) runs() bool {
	program, mayExit := c.running.(interface{ Running() bool })
	return c.running != nil && (!mayExit || program.Running())
}

// controllerManager names all controllers of kube-controller-manager together.
const controllerManager = "kube-controller-manager"

func (c *Simulation) startControllers() error {
	for _, ctl := range fakecontroller.ControllerManager {
		c.addController(ctl).manager = true
	}
	if slices.Contains(c.options.Controllers, fakecontroller.SELinuxWarningName) && c.World.Version.Has(version.SELinuxWarnings) {
		c.addController(fakecontroller.SELinuxWarning).manager = true
	}
	c.addController(fakecontroller.Scheduler)
	c.addSnapshotController()
	c.reachAddons()
	for _, d := range c.drivers {
		c.addSidecars(d)
		if err := c.addAddons(d); err != nil {
			return err
		}
	}
	for _, ctl := range c.controllers {
		if !ctl.down {
			ctl.run()
		}
	}
	return nil
}

// addSnapshotController adds the controller as soon as some driver can make snapshots.
func (c *Simulation) addSnapshotController() {
	all := fakecontroller.SnapshotController(c.options.SnapshotController)
	there := func(ctl *controller) bool { return ctl.name == all[0].Name }
	if !c.needsSnapshotController() || slices.ContainsFunc(c.controllers, there) {
		return
	}
	for _, ctl := range all {
		c.addController(ctl)
	}
}

// addController adds a controller that is not started yet.
func (c *Simulation) addController(ctl fakecontroller.Controller) *controller {
	start := func() fakecontroller.Program {
		return ctl.Start(fakecontroller.Cluster{World: c.World, Heartbeats: &c.leases})
	}
	added := &controller{name: ctl.Name, replica: ctl.Replica, start: start}
	c.controllers = append(c.controllers, added)
	return added
}

// controllersNamed finds a controller, or all that belong to kube-controller-manager.
func (c *Simulation) controllersNamed(name string) ([]*controller, error) {
	var found []*controller
	for _, ctl := range c.controllers {
		if ctl.name == name || (name == controllerManager && ctl.manager) || ctl.replica.Of != "" && ctl.replica.Of == name || ctl.replica.Of+"/"+leader == name && c.leads(ctl) {
			found = append(found, ctl)
		}
	}
	if len(found) == 0 && slices.Contains(c.replicaNames(), name) {
		return nil, &ConfigError{fmt.Sprintf("controller %q", name), "none of its replicas holds the lease"}
	}
	if len(found) == 0 {
		known := append(c.Controllers(), controllerManager)
		slices.Sort(known)
		return nil, &ConfigError{fmt.Sprintf("controller %q", name), fmt.Sprintf("there is no such controller; there are %v", known)}
	}
	return found, nil
}
