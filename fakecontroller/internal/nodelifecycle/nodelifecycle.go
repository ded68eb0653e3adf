// Package nodelifecycle handles nodes without heartbeats, like the kube-controller-manager. Its
// node lifecycle controller judges nodes by the heartbeats of their kubelets and taints them. Its
// taint eviction controller deletes pods that do not tolerate the taints.
package nodelifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Timers of the real controller.
const (
	monitorPeriod = 5 * time.Second
	gracePeriod   = 50 * time.Second
	startupGrace  = 60 * time.Second
	taintDelay    = 100 * time.Millisecond
)

// Heartbeats reports which kubelets are running. It replaces the kubelets' leases, which are
// renewed every 10 s, so that an idle cluster needs no timers.
type Heartbeats interface {
	// LastRenewal returns the virtual time, since the start of the run, of the last renewal of the
	// node's lease. alive reports whether the kubelet runs and continues to renew it.
	LastRenewal(node string) (at time.Duration, alive bool)
	// OnChange calls f whenever a kubelet starts or dies.
	OnChange(f func(node string))
}

// Controller is a running node lifecycle controller.
type Controller struct {
	*component.Component
	heartbeats Heartbeats
	started    time.Duration
	registered map[string]*corev1.Node  // nodes with an emitted RegisteredNode event
	watched    map[string]bool          // nodes for a later pass of the monitor
	reported   map[string]time.Duration // the last status write of a node's kubelet
	lastPass   time.Duration
	evictions  evictions
}

// Start starts the controller. Without heartbeats every kubelet counts as running.
func Start(w *component.World, heartbeats Heartbeats) *Controller {
	c := &Controller{
		Component:  w.Start("node-controller", ""),
		heartbeats: heartbeats,
		started:    w.Kernel.Elapsed(),
		registered: map[string]*corev1.Node{},
		watched:    map[string]bool{},
		reported:   map[string]time.Duration{},
		lastPass:   w.Kernel.Elapsed(), // the first pass is one period after the start
		evictions:  newEvictions(),
	}
	monitor := c.Go("monitor", c.monitor)
	if heartbeats != nil {
		heartbeats.OnChange(func(node string) {
			c.watched[node] = true
			monitor.Wake()
		})
	}
	c.Go("taints", c.keepConditionTaints)
	c.Go("eviction", c.evict)
	return c
}

// alive reports whether a node's kubelet runs and, if not, the time of its last heartbeat.
func (c *Controller) alive(node *corev1.Node) (heardOf time.Duration, alive bool) {
	if c.heartbeats == nil {
		return 0, true
	}
	at, alive := c.heartbeats.LastRenewal(node.Name)
	created := node.CreationTimestamp.Sub(c.Kernel.Now()) + c.Kernel.Elapsed()
	return max(at, created, c.reported[node.Name]), alive
}

// passAt returns the instant of the monitor's first pass at or after a time.
func (c *Controller) passAt(at time.Duration) time.Duration {
	at = max(at, c.started)
	periods := (at - c.started + monitorPeriod - 1) / monitorPeriod
	return c.started + periods*monitorPeriod
}

// nextPass returns the instant of the next pass.
func (c *Controller) nextPass(now time.Duration) time.Duration {
	return c.passAt(max(now, c.lastPass+1))
}

// podsOf returns the pods that are bound to a node.
func (c *Controller) podsOf(node string) func(func(*corev1.Pod) bool) {
	return store.Indexed[*corev1.Pod](c.Cache, kind.PodsByNode, node)
}

func (c *Controller) node(name string) (*corev1.Node, bool) {
	return component.Cached[*corev1.Node](c.Component, store.Key{Name: name})
}

// patchTaints patches a node's taints if they change.
func (c *Controller) patchTaints(p *kernel.Process, node *corev1.Node, change func([]corev1.Taint) []corev1.Taint) error {
	_, err := component.Patch(p, c.Component, store.KeyOf(node), func(n *corev1.Node) {
		n.Spec.Taints = change(n.Spec.Taints)
	})
	return err
}
