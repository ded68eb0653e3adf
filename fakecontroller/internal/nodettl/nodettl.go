// Package nodettl is the TTL controller of the kube-controller-manager. It annotates nodes with the
// time for which a kubelet may cache secrets and config maps. (kubernetes v1.36.3,
// pkg/controller/ttl)
package nodettl

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// steps are the sizes of clusters, in nodes, and the time in seconds for each of them. They
// overlap, so that the time does not oscillate. C-TTL-2
var steps = []struct{ min, max, seconds int }{
	{0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, math.MaxInt32, 300},
}

// Controller is a running TTL controller.
type Controller struct {
	*component.Component
	nodes *workqueue.Queue[string]
	count int
	step  int
}

// Start runs the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("ttl-controller", "")}
	c.nodes = workqueue.New("nodes", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		News:    "changes of nodes",
		Sources: []component.Source{component.On(c.observe)},
	})
	return c
}

// observe counts the nodes. After a change of the TTL each node is annotated at its next change.
func (c *Controller) observe(e store.Event[*corev1.Node]) {
	switch e.Type {
	case store.Added:
		if c.count++; c.count > steps[c.step].max {
			c.step++
		}
	case store.Deleted:
		if c.count--; c.count < steps[c.step].min {
			c.step--
		}
		return
	}
	if !c.annotated(e.Object) {
		c.nodes.Add(e.Object.Name)
	}
}

// annotated reports whether a node has the annotation of a cluster of this size.
func (c *Controller) annotated(n *corev1.Node) bool {
	seconds, err := strconv.Atoi(n.Annotations[corev1.ObjectTTLAnnotationKey])
	return err == nil && seconds == steps[c.step].seconds
}

// sync annotates a node. C-TTL-2
func (c *Controller) sync(p *kernel.Process, name string) error {
	key := store.Key{Name: name}
	node, ok := component.Cached[*corev1.Node](c.Component, key)
	if !ok || c.annotated(node) {
		return nil
	}
	_, err := component.PatchMetadata(p, c.Component, key, func(n *corev1.Node) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, corev1.ObjectTTLAnnotationKey, strconv.Itoa(steps[c.step].seconds))
	})
	return err
}
