// Package garbagecollector deletes objects whose owners are gone, and carries
// out foreground and orphaning deletions.
package garbagecollector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/store"
	"github.com/csisim/csisim/sim/workqueue"
)

// Workers is how many objects are looked at at once.
const Workers = 20

// Collector is one running garbage collector.
type Collector struct {
	*component.Component
	graph graph
	// suspects are objects that may have lost their owners, owners those that
	// are being deleted after or without their dependents.
	suspects, owners *workqueue.Queue[identity]
}

// Start runs the garbage collector. It follows all resources but events.
func Start(w *component.World) *Collector {
	c := &Collector{Component: w.Start("generic-garbage-collector", ""), graph: graph{}}
	options := workqueue.Default
	options.Workers = Workers
	c.suspects = workqueue.New("suspects", options, c.Go, c.judge)
	c.owners = workqueue.New("owners", options, c.Go, c.settleOwner)
	c.Go("graph builder", c.follow)
	return c
}

func (c *Collector) follow(p *kernel.Process) {
	var watches []*store.Watcher[store.Object]
	var resources []*store.Resource
	for _, resource := range store.Resources() {
		if resource.GVR.Resource == "events" {
			continue
		}
		w := c.Cache.WatchObjects(resource)
		w.OnEvent(p.Wake)
		watches = append(watches, w)
		resources = append(resources, resource)
	}
	for {
		for i, w := range watches {
			for e, ok := w.Next(); ok; e, ok = w.Next() {
				c.changed(resources[i], e)
			}
		}
		p.Park("changes of any object")
	}
}

func (c *Collector) changed(resource *store.Resource, e store.Event[store.Object]) {
	id := identity{resource, store.KeyOf(e.Object)}
	var before, now []metav1.OwnerReference
	if e.Old != nil {
		before = e.Old.GetOwnerReferences()
	}
	if e.Type != store.Deleted {
		now = e.Object.GetOwnerReferences()
	}
	c.graph.replace(id, before, now)
	switch {
	case e.Type == store.Deleted:
		for _, dependent := range c.graph.dependents(e.Object.GetUID()) {
			c.suspects.Add(dependent)
		}
		c.ownersOf(e.Object)
	case waitsForDependents(e.Object) || orphans(e.Object):
		c.owners.Add(id)
	}
	if len(now) > 0 && !slices.EqualFunc(before, now, func(a, b metav1.OwnerReference) bool { return a.UID == b.UID }) {
		c.suspects.Add(id)
	}
}

// ownersOf looks again at the owners that waited for an object to go.
func (c *Collector) ownersOf(gone store.Object) {
	for _, ref := range gone.GetOwnerReferences() {
		id, ok := ownerIdentity(gone.GetNamespace(), ref)
		if !ok {
			continue
		}
		if owner, ok := c.Cache.GetObject(id.resource, id.key); ok && owner.GetUID() == ref.UID && waitsForDependents(owner) {
			c.owners.Add(id)
		}
	}
}

// waitsForDependents reports whether an object is being deleted after its
// dependents.
func waitsForDependents(obj store.Object) bool {
	return obj.GetDeletionTimestamp() != nil && slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

// orphans reports whether an object is being deleted without its dependents.
func orphans(obj store.Object) bool {
	return obj.GetDeletionTimestamp() != nil && slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents)
}
