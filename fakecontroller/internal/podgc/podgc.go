// Package podgc is the pod garbage collector of the kube-controller-manager. It removes pods that
// no kubelet will ever end.
package podgc

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Timers of the real controller. C-ADC-62, C-ADC-63
const (
	period     = 20 * time.Second
	quarantine = 40 * time.Second
)

// Controller is a running pod garbage collector.
type Controller struct {
	*component.Component
	started time.Duration
	nodes   *store.Watcher[*corev1.Node]
	pods    *store.Watcher[*corev1.Pod]
	// suspects are pods to check because of a change of theirs or of their node.
	suspects map[store.Key]bool
	// missing holds the time at which a node with pods was first found missing.
	missing map[string]time.Duration
}

// Start starts the controller. It checks pods every 20 s after its start, but wakes only when a pod
// may have to be deleted.
func Start(w *component.World) *Controller {
	c := &Controller{
		Component: w.Start("pod-garbage-collector", ""),
		started:   w.Kernel.Elapsed(),
		suspects:  map[store.Key]bool{},
		missing:   map[string]time.Duration{},
	}
	c.Go("", c.run)
	return c
}

func (c *Controller) run(p *kernel.Process) {
	c.nodes = component.Watch[*corev1.Node](c.Component, p)
	c.pods = component.Watch[*corev1.Pod](c.Component, p)
	c.react(p)
}

// react handles new events. Most events make no pod suspect.
func (c *Controller) react(p *kernel.Process) {
	c.takeIn()
	if len(c.suspects) == 0 {
		p.React("pods without a kubelet that ends them", c.react)
	} else {
		p.GoOn(c.watchSuspects)
	}
}

// watchSuspects makes passes until no pod is suspect.
func (c *Controller) watchSuspects(p *kernel.Process) {
	for len(c.suspects) > 0 {
		if !p.ParkUntil("the next garbage collection", c.nextPass(p.Elapsed())) {
			c.collect(p)
		}
		c.takeIn()
	}
	c.react(p)
}

func (c *Controller) takeIn() {
	for e, ok := c.nodes.Next(); ok; e, ok = c.nodes.Next() {
		c.nodeChanged(e)
	}
	for e, ok := c.pods.Next(); ok; e, ok = c.pods.Next() {
		c.suspect(e.Object)
	}
}

// nextPass returns the time of the first pass after now.
func (c *Controller) nextPass(now time.Duration) time.Duration {
	return c.started + ((now-c.started)/period+1)*period
}

func (c *Controller) nodeChanged(e store.Event[*corev1.Node]) {
	if e.Type == store.Added {
		delete(c.missing, e.Object.Name)
	}
	if e.Type == store.Modified && abandoned(e.Object) == abandoned(e.Old) {
		return
	}
	for pod := range store.Indexed[*corev1.Pod](c.Cache, kind.PodsByNode, e.Object.Name) {
		c.suspect(pod)
	}
}

// suspect keeps a pod in the list while there is a reason to remove it.
func (c *Controller) suspect(pod *corev1.Pod) {
	key := store.KeyOf(pod)
	if now, ok := component.Cached[*corev1.Pod](c.Component, key); ok && c.reason(now) != none {
		c.suspects[key] = true
	} else {
		delete(c.suspects, key)
	}
}

// collect removes the pods that are due. If a pod is not removed, it is checked again when it
// changes.
func (c *Controller) collect(p *kernel.Process) {
	byKey := func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.suspects), byKey) {
		pod, ok := component.Cached[*corev1.Pod](c.Component, key)
		if !ok {
			delete(c.suspects, key)
			continue
		}
		why := c.reason(pod)
		if why == orphaned && !c.outOfQuarantine(p, pod.Spec.NodeName) {
			continue
		}
		if why == none || c.remove(p, pod, why) == nil {
			delete(c.suspects, key)
		}
	}
}

// outOfQuarantine reports whether a node has been missing long enough. The real queue delivers the
// node some microseconds after or before the pass at which it is due. In the first case it takes
// one more pass. C-ADC-63
func (c *Controller) outOfQuarantine(p *kernel.Process, node string) bool {
	since, known := c.missing[node]
	if !known {
		late := time.Duration(c.Kernel.Choose(kernel.Jitter, 2, "quarantine of a deleted node"))
		c.missing[node] = p.Elapsed() + late
		return false
	}
	return p.Elapsed()-since >= quarantine
}
