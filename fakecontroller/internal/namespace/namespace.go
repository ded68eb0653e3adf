// Package namespace is the namespace controller of the kube-controller-manager. It empties
// terminating namespaces, and releases them. (kubernetes v1.36.3, pkg/controller/namespace)
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
	"github.com/csisim/csisim/internal/world/version"
)

// The times between two looks at a namespace.
const (
	afterChange = 5 * time.Second // after a change of the namespace itself
	firstRetry  = 5 * time.Millisecond
	lastRetry   = time.Minute
)

// Controller is a running namespace controller.
type Controller struct {
	*component.Component
	due   map[string]time.Duration // the next check of a namespace, since the beginning of the run
	tries map[string]int           // the number of consecutive failures
}

// Start starts the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("namespace-controller", ""), due: map[string]time.Duration{}, tries: map[string]int{}}
	c.Go("", c.run)
	return c
}

func (c *Controller) run(p *kernel.Process) {
	namespaces := component.Watch[*corev1.Namespace](c.Component, p)
	for {
		for e, ok := namespaces.Next(); ok; e, ok = namespaces.Next() {
			c.changed(p, e)
		}
		if len(c.due) == 0 {
			p.Park("namespaces that are deleted")
			continue
		}
		next := slices.Min(slices.Collect(maps.Values(c.due))) // any order: a minimum
		if next > p.Elapsed() {
			p.ParkUntil("the next look at a deleted namespace", next)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(c.due)) {
			if c.due[name] <= p.Elapsed() {
				c.look(p, name)
			}
		}
	}
}

func (c *Controller) changed(p *kernel.Process, e store.Event[*corev1.Namespace]) {
	switch name := e.Object.Name; {
	case e.Type == store.Deleted:
		delete(c.due, name)
		delete(c.tries, name)
	case e.Object.DeletionTimestamp != nil:
		c.lookAt(name, p.Elapsed()+afterChange)
	}
}

// lookAt sets the time of the next pass, unless an earlier one is set.
func (c *Controller) lookAt(name string, at time.Duration) {
	if sooner, ok := c.due[name]; !ok || at < sooner {
		c.due[name] = at
	}
}

// look empties a namespace, and releases it when nothing is left.
func (c *Controller) look(p *kernel.Process, name string) {
	delete(c.due, name)
	namespace, ok := store.Get[*corev1.Namespace](c.Store, store.Key{Name: name})
	if !ok || namespace.DeletionTimestamp == nil || !slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes) {
		return
	}
	left := c.empty(p, namespace)
	c.report(p, name, left)
	switch {
	case len(left.failures) > 0:
		wait := min(firstRetry<<min(c.tries[name], 20), lastRetry)
		c.tries[name]++
		c.lookAt(name, p.Elapsed()+wait)
		return
	case left.estimate > 0:
		c.lookAt(name, p.Elapsed()+(left.estimate/2).Truncate(time.Second)+time.Second)
		return
	}
	delete(c.tries, name)
	c.release(p, name)
}

// empty deletes all objects of a namespace, its pods first. [deletion deleteAllContent] C-NS-2
func (c *Controller) empty(p *kernel.Process, namespace *corev1.Namespace) *remains {
	left := newRemains()
	isPods := func(res *store.Resource) bool { return res.GVR == corev1.SchemeGroupVersion.WithResource("pods") }
	podsFirst := c.Version.Has(version.PodsBeforeContent)
	if podsFirst {
		for _, res := range c.Store.Resources() {
			if isPods(res) && c.emptyOf(p, namespace, res, left) > 0 {
				left.forget() // while pods remain, the real controller reports no remaining objects
				return left
			}
		}
	}
	for _, res := range c.Store.Resources() {
		if res.Namespaced && !(podsFirst && isPods(res)) {
			c.emptyOf(p, namespace, res, left)
		}
	}
	return left
}

// emptyOf deletes the objects of one kind, and counts the remaining ones.
func (c *Controller) emptyOf(p *kernel.Process, namespace *corev1.Namespace, res *store.Resource, left *remains) int {
	estimate := time.Duration(0)
	var stay []store.Object
	for obj := range c.Store.ListObjects(res, namespace.Name) {
		if pod, ok := obj.(*corev1.Pod); ok {
			estimate = max(estimate, graceOf(pod))
		}
		if there, stays := c.delete(p, res, obj); stays {
			stay = append(stay, there)
		}
	}
	if p.Now().Sub(namespace.DeletionTimestamp.Time) >= estimate {
		estimate = 0
	}
	left.add(namespace.Name, res, stay, estimate)
	return len(stay)
}

// graceOf returns the time that a pod may take to stop.
func graceOf(pod *corev1.Pod) time.Duration {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil && !ended {
		return time.Duration(*seconds) * time.Second
	}
	return 0
}

// delete requests an object's deletion once, and reports whether a finalizer holds the object.
func (c *Controller) delete(p *kernel.Process, res *store.Resource, obj store.Object) (there store.Object, stays bool) {
	key := store.KeyOf(obj)
	if obj.GetDeletionTimestamp() == nil {
		p.Yield("delete")
		_, _ = c.Store.DeleteObject(res, key) // a refused deletion is tried again in the next pass
	}
	return c.Store.GetObject(res, key)
}

// report writes the conditions of a namespace.
func (c *Controller) report(p *kernel.Process, name string, left *remains) {
	key := store.Key{Name: name}
	namespace, ok := store.Get[*corev1.Namespace](c.Store, key)
	if !ok || !setConditions(&namespace.DeepCopy().Status, left, c.Store.Timestamp()) {
		return
	}
	p.Yield("update conditions")
	_, _ = store.ModifyStatus(c.Store, key, func(n *corev1.Namespace) {
		setConditions(&n.Status, left, c.Store.Timestamp())
	})
}

// release removes the finalizer that protected the namespace until its objects were deleted.
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
