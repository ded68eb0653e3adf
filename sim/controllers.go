package sim

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/drivers/sidecar"
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/fakecontroller/scheduler"
	"github.com/csisim/csisim/fakecontroller/selinuxwarning"
	"github.com/csisim/csisim/fakecontroller/snapshot"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/version"
)

// controller is one controller or sidecar: how to start it, and what runs.
type controller struct {
	name    string
	manager bool // part of kube-controller-manager
	start   func() fakecontroller.Program
	running fakecontroller.Program
	pace    component.Pace
}

// run starts it. What held its memory before is not there any more.
func (c *controller) run() {
	c.running = c.start()
	c.running.SetPace(&c.pace)
}

// runs reports whether it was started and has neither been killed nor, as a sidecar
// may, exited for good.
func (c *controller) runs() bool {
	program, mayExit := c.running.(*sidecar.Program)
	return c.running != nil && (!mayExit || program.Running())
}

// controllerManager names all controllers of kube-controller-manager together.
const controllerManager = "kube-controller-manager"

const schedulerName = "scheduler"

func (c *Simulation) startControllers() {
	w := c.World
	c.beats = &heartbeats{cluster: c}
	for _, ctl := range fakecontroller.ControllerManager {
		start := func() fakecontroller.Program { return ctl.Start(fakecontroller.Cluster{World: w, Heartbeats: c.beats}) }
		c.controllers = append(c.controllers, &controller{name: ctl.Name, manager: true, start: start})
	}
	if slices.Contains(c.options.Controllers, selinuxwarning.Name) && w.Version.Has(version.SELinuxWarnings) {
		start := func() fakecontroller.Program { return selinuxwarning.Start(w) }
		c.controllers = append(c.controllers, &controller{name: "selinux-warning", manager: true, start: start})
	}
	c.controllers = append(c.controllers, &controller{name: schedulerName, start: func() fakecontroller.Program { return scheduler.Start(w) }})
	c.addSnapshotController()
	for _, d := range c.drivers {
		c.addSidecars(d)
	}
	for _, ctl := range c.controllers {
		ctl.run()
	}
}

// addSnapshotController adds the controller as soon as some driver can make snapshots.
func (c *Simulation) addSnapshotController() {
	const name = "snapshot-controller"
	there := func(ctl *controller) bool { return ctl.name == name }
	if c.needsSnapshotController() && !slices.ContainsFunc(c.controllers, there) {
		c.controllers = append(c.controllers, &controller{name: name, start: func() fakecontroller.Program { return snapshot.Start(c.World, c.options.SnapshotController) }})
	}
}

// controllersNamed finds a controller, or all that belong to kube-controller-manager.
func (c *Simulation) controllersNamed(name string) ([]*controller, error) {
	var found []*controller
	for _, ctl := range c.controllers {
		if ctl.name == name || (name == controllerManager && ctl.manager) {
			found = append(found, ctl)
		}
	}
	if len(found) == 0 {
		known := append(c.Controllers(), controllerManager)
		slices.Sort(known)
		return nil, &ConfigError{fmt.Sprintf("controller %q", name), fmt.Sprintf("there is no such controller; there are %v", known)}
	}
	return found, nil
}
