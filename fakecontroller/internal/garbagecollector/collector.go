// Package garbagecollector deletes objects after their owners, and carries out foreground and
// orphaning deletions.
package garbagecollector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Workers is the number of workers.
const Workers = 20

// Collector is a running garbage collector.
type Collector struct {
	*component.Component
	graph    graph
	followed []following
	// suspects are objects that may have lost their owners. owners are objects that are deleted
	// after their dependents, or without them.
	suspects, owners *workqueue.Queue[identity]
}

// Start runs the garbage collector. It follows all resources except events.
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
	for c.followed == nil || c.takeChanges() {
		c.followed = c.followAll(p, c.followed)
	}
	p.React("changes of any object", c.follow)
}

// takeChanges handles the events of the informers, and reports whether the set of kinds has
// changed.
func (c *Collector) takeChanges() (redefined bool) {
	for _, f := range c.followed {
		for f.Len() > 0 { // most resources have no news
			e, _ := f.Next()
			c.changed(f.resource, e)
			redefined = redefined || f.resource.GVR.Resource == "customresourcedefinitions"
		}
	}
	return redefined
}

// following is the watch of one resource.
type following struct {
	*store.Watcher[store.Object]
	resource *store.Resource
}

// followAll follows all existing kinds. Definitions add and remove kinds.
func (c *Collector) followAll(p *kernel.Process, before []following) []following {
	now := c.Store.Resources()
	all := make([]following, 0, len(now))
	for _, f := range before {
		if slices.Contains(now, f.resource) || f.Len() > 0 {
			all = append(all, f)
		} else {
			f.Close()
		}
	}
	added := slices.DeleteFunc(now, func(res *store.Resource) bool {
		known := slices.ContainsFunc(all, func(f following) bool { return f.resource == res })
		return known || res.GVR.Resource == "events"
	})
	watches, wake := make([]store.Watcher[store.Object], len(added)), p.Wake
	for i, resource := range added {
		w := &watches[i]
		c.Cache.OpenObjects(w, resource)
		w.OnEvent(wake)
		all = append(all, following{w, resource})
	}
	return all
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
	if len(now) > 0 && !slices.EqualFunc(before, now, sameUID) {
		c.suspects.Add(id)
	}
}

// ownersOf checks again the owners that waited for the deletion of an object.
func (c *Collector) ownersOf(gone store.Object) {
	for _, ref := range gone.GetOwnerReferences() {
		id, ok := c.ownerIdentity(gone.GetNamespace(), ref)
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
