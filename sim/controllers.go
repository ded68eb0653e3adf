package sim

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/drivers/sidecar"
	"github.com/csisim/csisim/fakecontroller/attachdetach"
	"github.com/csisim/csisim/fakecontroller/cronjob"
	"github.com/csisim/csisim/fakecontroller/daemonset"
	"github.com/csisim/csisim/fakecontroller/deployment"
	"github.com/csisim/csisim/fakecontroller/disruption"
	"github.com/csisim/csisim/fakecontroller/ephemeral"
	"github.com/csisim/csisim/fakecontroller/expand"
	"github.com/csisim/csisim/fakecontroller/garbagecollector"
	"github.com/csisim/csisim/fakecontroller/job"
	"github.com/csisim/csisim/fakecontroller/nodelifecycle"
	"github.com/csisim/csisim/fakecontroller/persistentvolume"
	"github.com/csisim/csisim/fakecontroller/podgc"
	"github.com/csisim/csisim/fakecontroller/protection"
	"github.com/csisim/csisim/fakecontroller/replicaset"
	"github.com/csisim/csisim/fakecontroller/resourcequota"
	"github.com/csisim/csisim/fakecontroller/scheduler"
	"github.com/csisim/csisim/fakecontroller/snapshot"
	"github.com/csisim/csisim/fakecontroller/statefulset"
	"github.com/csisim/csisim/internal/world/component"
)

// controller is one controller or sidecar: how to start it, and what runs.
type controller struct {
	name    string
	manager bool // part of kube-controller-manager
	start   func() crasher
	running crasher
	pace    component.Pace
}

type crasher interface {
	Crash()
	SetPace(*component.Pace)
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
	manager := func(name string, start func() crasher) {
		c.controllers = append(c.controllers, &controller{name: name, manager: true, start: start})
	}
	manager("attachdetach", func() crasher { return attachdetach.Start(w, attachdetach.Options{}) })
	manager("persistentvolume", func() crasher { return persistentvolume.Start(w) })
	manager("pvc-protection", func() crasher { return protection.StartClaims(w) })
	manager("pv-protection", func() crasher { return protection.StartVolumes(w) })
	manager("vac-protection", func() crasher { return protection.StartClasses(w) })
	manager("expand", func() crasher { return expand.Start(w) })
	manager("ephemeral", func() crasher { return ephemeral.Start(w) })
	manager("garbagecollector", func() crasher { return garbagecollector.Start(w) })
	manager("nodelifecycle", func() crasher { return nodelifecycle.Start(w, c.beats) })
	manager("statefulset", func() crasher { return statefulset.Start(w) })
	manager("daemonset", func() crasher { return daemonset.Start(w) })
	manager("deployment", func() crasher { return deployment.Start(w) })
	manager("replicaset", func() crasher { return replicaset.Start(w) })
	manager("job", func() crasher { return job.Start(w) })
	manager("cronjob", func() crasher { return cronjob.Start(w) })
	manager("resourcequota", func() crasher { return resourcequota.Start(w) })
	manager("disruption", func() crasher { return disruption.Start(w) })
	manager("podgc", func() crasher { return podgc.Start(w) })
	c.controllers = append(c.controllers, &controller{name: schedulerName, start: func() crasher { return scheduler.Start(w) }})
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
		c.controllers = append(c.controllers, &controller{name: name, start: func() crasher { return snapshot.Start(c.World, c.options.SnapshotController) }})
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
