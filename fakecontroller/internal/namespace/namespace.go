// Package namespace is the namespace controller of the kube-controller-manager: it
// empties namespaces that are being deleted, and lets them go.
package namespace

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// again is how long after a pass that left something the next one follows.
const again = 5 * time.Second

// Controller is one running namespace controller.
type Controller struct {
	*component.Component
	leaving map[string]bool
}

// Start starts the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("namespace-controller", ""), leaving: map[string]bool{}}
	c.Go("", c.run)
	return c
}

func (c *Controller) run(p *kernel.Process) {
	namespaces := component.Watch[*corev1.Namespace](c.Component, p)
	for {
		for e, ok := namespaces.Next(); ok; e, ok = namespaces.Next() {
			c.changed(e)
		}
		if len(c.leaving) == 0 {
			p.Park("namespaces that are deleted")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(c.leaving)) {
			c.empty(p, name)
		}
		p.ParkUntil("what a deleted namespace holds", p.Elapsed()+again)
	}
}

func (c *Controller) changed(e store.Event[*corev1.Namespace]) {
	if e.Type == store.Deleted || e.Object.DeletionTimestamp == nil {
		delete(c.leaving, e.Object.Name)
		return
	}
	c.leaving[e.Object.Name] = true
}

// empty deletes all objects of a namespace, and lets it go when none is left.
func (c *Controller) empty(p *kernel.Process, name string) {
	left := 0
	for _, res := range c.Store.Resources() {
		if !res.Namespaced {
			continue
		}
		for obj := range c.Store.ListObjects(res, name) {
			if c.delete(p, res, obj) {
				left++
			}
		}
	}
	if left == 0 {
		c.release(p, name)
	}
}

// delete asks for an object's end once, and reports whether something holds it.
func (c *Controller) delete(p *kernel.Process, res *store.Resource, obj store.Object) (stays bool) {
	key := store.KeyOf(obj)
	if obj.GetDeletionTimestamp() == nil {
		p.Yield("delete")
		_, _ = c.Store.DeleteObject(res, key) // who is refused tries again in the next pass
	}
	_, stays = c.Store.GetObject(res, key)
	return stays
}

// release takes the finalizer off that held the namespace for its objects' sake.
func (c *Controller) release(p *kernel.Process, name string) {
	p.Yield("finalize")
	namespace, ok := store.Get[*corev1.Namespace](c.Store, store.Key{Name: name})
	if !ok {
		return
	}
	free := namespace.DeepCopy()
	free.Spec.Finalizers = slices.DeleteFunc(free.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	_, _ = kind.FinalizeNamespace(c.Store, free, false) // it is there
}
