// Package resourcequota is the resource quota controller of the kube-controller-manager. It writes
// the limits of a quota and the usage in its namespace into the status. The API server counts new
// objects at admission. The controller detects deleted objects and corrects wrong counts.
//
// It counts claims by size and class, pods by their requests, services, and the number of objects
// of any kind. (kubernetes v1.36.3, pkg/controller/resourcequota)
package resourcequota

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// The defaults of the real controller: the interval between full recounts, and the number of
// workers.
const (
	period  = 5 * time.Minute
	workers = 5
)

type quota = *corev1.ResourceQuota

// Controller is a running resource quota controller.
type Controller struct {
	*component.Component
	queue    *workqueue.Queue[store.Key]
	monitors []monitor // monitors of the kinds that a quota limits, or has limited

	recalculates bool // there is, or was, a quota
}

// monitor watches one kind.
type monitor struct {
	kind    *store.Resource
	objects *store.Watcher[store.Object]
}

// Start runs the resource quota controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("resourcequota-controller", "")}
	c.queue = workqueue.New("quotas", workqueue.Workers(workers), c.Go, c.sync)
	c.Go("informers", c.follow)
	return c
}

// follow queues a quota when its limits change, when an object in its namespace is deleted, and
// when a claim changes.
func (c *Controller) follow(p *kernel.Process) {
	quotas := component.Watch[quota](c.Component, p)
	var follow func(*kernel.Process)
	follow = func(p *kernel.Process) {
		for e, ok := quotas.Next(); ok; e, ok = quotas.Next() {
			c.quotaChanged(p, e)
		}
		for _, m := range c.monitors {
			for e, ok := m.objects.Next(); ok; e, ok = m.objects.Next() {
				c.replenish(m.kind, e)
			}
		}
		p.React("quotas and the objects that they limit", follow)
	}
	follow(p)
}

func (c *Controller) quotaChanged(p *kernel.Process, e store.Event[quota]) {
	if e.Type == store.Deleted || e.Type == store.Modified && equality.Semantic.DeepEqual(e.Old.Spec.Hard, e.Object.Spec.Hard) {
		return
	}
	if !c.recalculates {
		c.recalculates = true
		c.Go("full recalculation", c.recalculate)
	}
	for _, res := range kind.Counted(e.Object.Spec.Hard) {
		c.monitor(p, res)
	}
	c.queue.Add(store.KeyOf(e.Object))
}

// monitor watches a kind from now on.
func (c *Controller) monitor(p *kernel.Process, res *store.Resource) {
	if slices.ContainsFunc(c.monitors, func(m monitor) bool { return m.kind == res }) {
		return
	}
	objects := c.Cache.WatchObjects(res)
	objects.OnEvent(p.Wake)
	c.monitors = append(c.monitors, monitor{res, objects})
}

// replenish queues the quotas that have less usage after a change.
func (c *Controller) replenish(res *store.Resource, e store.Event[store.Object]) {
	if e.Type == store.Added || e.Type == store.Modified && !c.matters(e) {
		return
	}
	for q := range store.List[quota](c.Cache, e.Object.GetNamespace()) {
		if slices.Contains(kind.Counted(q.Status.Hard), res) {
			c.queue.Add(store.KeyOf(q))
		}
	}
}

// matters reports whether a change can reduce the usage: any change of a claim (the real filter
// compares addresses of the sizes), the end of a pod, and a new type of a service.
// (pkg/quota/v1/install/update_filter.go: DefaultUpdateFilter)
func (c *Controller) matters(e store.Event[store.Object]) bool {
	switch obj := e.Object.(type) {
	case *corev1.PersistentVolumeClaim:
		return true
	case *corev1.Pod:
		old, now := e.Old.(*corev1.Pod), c.Kernel.Now()
		return kind.CountsForQuota(now, old) && !kind.CountsForQuota(now, obj) ||
			(old.Spec.ActiveDeadlineSeconds == nil) != (obj.Spec.ActiveDeadlineSeconds == nil)
	case *corev1.Service:
		return obj.Spec.Type != e.Old.(*corev1.Service).Spec.Type
	}
	return false
}

// recalculate counts everything anew from time to time.
func (c *Controller) recalculate(p *kernel.Process) {
	for {
		p.Idle(period)
		for q := range store.List[quota](c.Cache, "") {
			c.queue.Add(store.KeyOf(q))
		}
	}
}

// sync writes the limits and the usage into a quota. If a resource cannot be counted, its old usage
// stays.
func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	q, ok := component.Cached[quota](c.Component, key)
	if !ok {
		return nil
	}
	counted := kind.Usage(c.Cache, c.Kernel.Now(), q)
	used := corev1.ResourceList{}
	for name := range q.Spec.Hard { // any order: they are independent
		if amount, ok := counted[name]; ok {
			used[name] = amount
		} else if amount, ok := q.Status.Used[name]; ok {
			used[name] = amount
		}
	}
	next := q.DeepCopy()
	next.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard.DeepCopy(), Used: used}
	if q.Status.Used != nil && equality.Semantic.DeepEqual(next.Status, q.Status) {
		return nil
	}
	_, err := component.UpdateStatus(p, c.Component, next)
	return err
}
