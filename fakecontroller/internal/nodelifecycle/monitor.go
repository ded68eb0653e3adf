package nodelifecycle

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// monitor checks nodes at the 5 s marks. It visits only nodes and marks with a necessary action.
func (c *Controller) monitor(p *kernel.Process) {
	nodes := component.Watch[*corev1.Node](c.Component, p)
	var monitor func(*kernel.Process)
	monitor = func(p *kernel.Process) {
		for {
			for e, ok := nodes.Next(); ok; e, ok = nodes.Next() {
				c.watched[e.Object.Name] = true
				c.noteReport(p.Elapsed(), e)
			}
			at, work, any := c.nextDue(p.Elapsed())
			switch {
			case !any:
				p.Rest("nodes and kubelets", monitor)
				return
			case at <= p.Elapsed():
				c.pass(p)
			case work:
				p.ParkUntil("the node monitor's next pass", at)
			default:
				p.IdleUntil("the node monitor's next pass", at)
			}
		}
	}
	monitor(p)
}

// noteReport also treats a status that the kubelet wrote as a heartbeat.
func (c *Controller) noteReport(now time.Duration, e store.Event[*corev1.Node]) {
	switch {
	case e.Type == store.Deleted:
		delete(c.reported, e.Object.Name)
	case e.Type == store.Modified && heartbeat(e.Object) != heartbeat(e.Old):
		c.reported[e.Object.Name] = now
	}
}

// due is the time at which a node needs the monitor. Registering a node is housekeeping; the
// consequences of a dead kubelet are work.
type due struct {
	at   time.Duration
	work bool
}

// nextDue returns the time at which the first of the watched nodes needs a pass. It stops watching
// nodes that need no pass.
func (c *Controller) nextDue(now time.Duration) (at time.Duration, work, any bool) {
	for name := range c.watched { // any order: the earliest of all is the result
		next, ok := c.dueOf(name, now)
		if !ok {
			delete(c.watched, name)
			continue
		}
		if !any || next.at < at {
			at = next.at
		}
		work = work || next.work
		any = true
	}
	return at, work, any
}

func (c *Controller) dueOf(name string, now time.Duration) (due, bool) {
	node, exists := c.node(name)
	soon := c.nextPass(now)
	known := c.registered[name]
	switch {
	case !exists && known == nil:
		return due{}, false
	case !exists || known == nil || known.UID != node.UID:
		return due{at: soon}, true
	case !slices.Equal(noExecuteKeys(node), wantedNoExecute(node)):
		return due{soon, true}, true
	}
	if unknownAt, silent := c.unknownAt(node); silent {
		return due{max(unknownAt, soon), true}, true
	}
	return due{}, false
}

// unknownAt returns the time at which the controller notices a dead kubelet: the grace period after
// the pass that observed the last heartbeat.
func (c *Controller) unknownAt(node *corev1.Node) (time.Duration, bool) {
	heardOf, alive := c.alive(node)
	ready := condition(node, corev1.NodeReady)
	switch {
	case alive || (ready != nil && ready.Status == corev1.ConditionUnknown):
		return 0, false
	case ready == nil:
		return c.passAt(heardOf) + startupGrace, true
	default:
		return c.passAt(heardOf) + gracePeriod, true
	}
}

func (c *Controller) pass(p *kernel.Process) {
	now := p.Elapsed()
	defer func() { c.lastPass = now }()
	for _, name := range slices.Sorted(maps.Keys(c.watched)) {
		if next, ok := c.dueOf(name, now); ok && next.at <= now {
			c.attend(p, name)
		}
	}
}

// attend does the work for one node.
func (c *Controller) attend(p *kernel.Process, name string) {
	node, exists := c.node(name)
	if known := c.registered[name]; known != nil && (!exists || known.UID != node.UID) {
		c.Event(known, corev1.EventTypeNormal, "RemovingNode", "Node %s event: Removing Node %s from Controller", name, name)
		delete(c.registered, name)
	}
	if !exists {
		return
	}
	if c.registered[name] == nil {
		c.Event(node, corev1.EventTypeNormal, "RegisteredNode", "Node %s event: Registered Node %s in Controller", name, name)
		c.registered[name] = node
	}
	if at, silent := c.unknownAt(node); silent && at <= p.Elapsed() {
		c.declareUnknown(p, node)
		return // the changed node is delivered as an event
	}
	c.keepNoExecuteTaint(p, node)
}

// declareUnknown handles a node with a kubelet that has been silent for the grace period.
func (c *Controller) declareUnknown(p *kernel.Process, node *corev1.Node) {
	was := condition(node, corev1.NodeReady)
	changed, err := component.PatchStatus(p, c.Component, store.KeyOf(node), func(n *corev1.Node) {
		setUnknown(&n.Status, p.Now())
	})
	if err != nil {
		return // still silent at the next pass
	}
	c.later(p, changed)
	if was == nil || was.Status != corev1.ConditionTrue {
		return
	}
	c.Event(changed, corev1.EventTypeNormal, "NodeNotReady", "Node %s status is now: NodeNotReady", node.Name)
	c.markPodsNotReady(p, node.Name)
}

// later taints a node that has just become silent, one round of the taint queue later.
func (c *Controller) later(p *kernel.Process, node *corev1.Node) {
	p.Go("taint "+node.Name, func(p *kernel.Process) {
		p.Sleep(taintDelay)
		if now, ok := c.node(node.Name); ok {
			c.keepNoExecuteTaint(p, now)
		}
	})
}
