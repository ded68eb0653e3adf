package sim

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/fakecontroller/attachdetach"
	"github.com/csisim/csisim/fakecontroller/attacher"
	"github.com/csisim/csisim/fakecontroller/ephemeral"
	"github.com/csisim/csisim/fakecontroller/expand"
	"github.com/csisim/csisim/fakecontroller/garbagecollector"
	"github.com/csisim/csisim/fakecontroller/nodelifecycle"
	"github.com/csisim/csisim/fakecontroller/persistentvolume"
	"github.com/csisim/csisim/fakecontroller/podgc"
	"github.com/csisim/csisim/fakecontroller/protection"
	"github.com/csisim/csisim/fakecontroller/provisioner"
	"github.com/csisim/csisim/fakecontroller/resizer"
	"github.com/csisim/csisim/fakecontroller/scheduler"
	"github.com/csisim/csisim/fakecontroller/snapshot"
	"github.com/csisim/csisim/fakecontroller/snapshotter"
	"github.com/csisim/csisim/fakecontroller/statefulset"
)

// controller is one controller or sidecar: how to start it, and what runs.
type controller struct {
	name    string
	manager bool // part of kube-controller-manager
	start   func() crasher
	running crasher
}

type crasher interface{ Crash() }

// controllerManager names all controllers of kube-controller-manager together.
const controllerManager = "kube-controller-manager"

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
	manager("podgc", func() crasher { return podgc.Start(w) })
	c.controllers = append(c.controllers, &controller{name: "scheduler", start: func() crasher { return scheduler.Start(w) }})
	if slices.ContainsFunc(c.drivers, func(d *driver) bool { return d.promised["CREATE_DELETE_SNAPSHOT"] }) {
		c.controllers = append(c.controllers, &controller{name: "snapshot-controller", start: func() crasher { return snapshot.Start(w) }})
	}
	for _, d := range c.drivers {
		c.addSidecars(d)
	}
	for _, ctl := range c.controllers {
		ctl.running = ctl.start()
	}
}

// addSidecars adds what runs beside a driver's controller plugin: csi-provisioner
// and csi-attacher always, the others beside drivers that can use them.
func (c *Simulation) addSidecars(d *driver) {
	p := d.controller
	if p == nil {
		return
	}
	sidecar := func(name string, start func() crasher) {
		c.controllers = append(c.controllers, &controller{name: name + "/" + d.Name, start: start})
	}
	sidecar("csi-provisioner", func() crasher {
		return provisioner.Start(c.World, c.Wire, provisioner.Options{Driver: d.Name, Machine: p.machine, Socket: p.socket})
	})
	sidecar("csi-attacher", func() crasher {
		return attacher.Start(c.World, c.Wire, attacher.Options{Driver: d.Name, Machine: p.machine, Socket: p.socket})
	})
	if d.promised["EXPAND_VOLUME"] || d.promised["MODIFY_VOLUME"] || d.expandsOnNodes() {
		sidecar("csi-resizer", func() crasher {
			return resizer.Start(c.World, c.Wire, resizer.Options{Driver: d.Name, Machine: p.machine, Socket: p.socket})
		})
	}
	if d.promised["CREATE_DELETE_SNAPSHOT"] {
		sidecar("csi-snapshotter", func() crasher {
			return snapshotter.Start(c.World, c.Wire, snapshotter.Options{Driver: d.Name, Machine: p.machine, Socket: p.socket})
		})
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
