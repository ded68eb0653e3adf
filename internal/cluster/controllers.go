package cluster

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
)

// Controller is one controller or sidecar: how it starts, and the running program.
type Controller struct {
	fakecontroller.Controller
	Sidecar string // its program; empty if the controller is not a sidecar
	Down    bool   // it is started on request
	Pace    component.Pace

	in      fakecontroller.Cluster
	manager bool // part of kube-controller-manager
	running fakecontroller.Program
}

// Run starts it without the memory of an earlier instance.
func (c *Controller) Run() {
	c.running = c.Start(c.in)
	c.running.SetPace(&c.Pace)
}

// Runs reports whether it was started and has neither been killed nor exited permanently, as
// sidecars may.
func (c *Controller) Runs() bool {
	program, mayExit := c.running.(interface{ Running() bool })
	return c.running != nil && (!mayExit || program.Running())
}

// Crash ends the controller, if it was started. Its memory is lost.
func (c *Controller) Crash() {
	if c.running != nil {
		c.running.Crash()
		c.running = nil
	}
}

// DriverGone notifies a sidecar that the plugin beside it has exited.
func (c *Controller) DriverGone() {
	switch program := c.running.(type) {
	case fakecontroller.AddonsProgram:
		program.DriverGone()
	case *sidecar.Program:
		program.Disconnected()
	}
}

// ControllerManager names all controllers of kube-controller-manager together.
const ControllerManager = "kube-controller-manager"

// leader is the suffix, in a sidecar's name, for the replica that holds the lease.
const leader = "leader"

// Controllers are the controllers and sidecars of a cluster.
type Controllers struct {
	// All lists the controllers in the order in which they were added.
	All []*Controller
	// In is the cluster that they control.
	In       fakecontroller.Cluster
	Awaiting AwaitingRestart
}

// AddManager adds the controllers of kube-controller-manager.
func (c *Controllers) AddManager(all ...fakecontroller.Controller) {
	for _, ctl := range all {
		c.AddSidecar(&Controller{Controller: ctl, manager: true})
	}
}

// Add adds a controller, unless it already exists.
func (c *Controllers) Add(ctl fakecontroller.Controller) {
	if !slices.ContainsFunc(c.All, func(there *Controller) bool { return there.Name == ctl.Name }) {
		c.AddSidecar(&Controller{Controller: ctl})
	}
}

// AddSidecar adds a sidecar that is not started yet.
func (c *Controllers) AddSidecar(s *Controller) {
	s.in = c.In
	c.All = append(c.All, s)
}

// Remove ends sidecars for good.
func (c *Controllers) Remove(gone []*Controller) {
	c.All = slices.DeleteFunc(c.All, func(ctl *Controller) bool {
		if !slices.Contains(gone, ctl) {
			return false
		}
		ctl.Crash()
		return true
	})
}

// RestartControlPlane ends the running controllers of kube-controller-manager and the running
// scheduler, and starts them again.
func (c *Controllers) RestartControlPlane() {
	for _, ctl := range c.All {
		if (ctl.manager || ctl.Name == fakecontroller.Scheduler.Name) && ctl.running != nil {
			ctl.Crash()
			ctl.Run()
		}
	}
}

// Names returns the names of all controllers and sidecars. For a sidecar with replicas, these are
// the name of each replica, of all replicas together, and of the leader, if they elect one.
func (c *Controllers) Names() []string {
	var names, replicas []string
	for _, ctl := range c.All {
		names = append(names, ctl.Name)
		of := ctl.Replica.Of
		if of == "" || slices.Contains(replicas, of) {
			continue
		}
		replicas = append(replicas, of)
		if ctl.Replica.Lock != "" {
			replicas = append(replicas, of+"/"+leader)
		}
	}
	return append(names, replicas...)
}

// named returns the controllers with a name.
func (c *Controllers) named(name string) (found []*Controller) {
	for _, ctl := range c.All {
		of := ctl.Replica.Of
		if ctl.Name == name || name == ControllerManager && ctl.manager || of != "" && of == name || of+"/"+leader == name && c.leads(ctl) {
			found = append(found, ctl)
		}
	}
	return found
}

// leads reports whether the replica holds its lease.
func (c *Controllers) leads(ctl *Controller) bool {
	lease, ok := store.Get[*coordinationv1.Lease](c.In.World.Store, store.Key{Namespace: sidecar.Namespace, Name: ctl.Replica.Lock})
	return ok && ptr.Deref(lease.Spec.HolderIdentity, "") == sidecar.Sanitized(ctl.Replica.Pod)
}

// ProgramOf returns the program of a component: a sidecar, or kube-controller-manager with all its
// controllers. It is empty for other components.
func (c *Controllers) ProgramOf(of *component.Component) fault.Victim {
	for _, ctl := range c.All {
		switch {
		case !of.Keeps(&ctl.Pace):
		case ctl.manager:
			return ControllerManager
		default:
			return fault.Victim(ctl.Name)
		}
	}
	return ""
}
