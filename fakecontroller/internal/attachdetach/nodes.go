package attachdetach

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// managedAnnotation marks a node for which this controller attaches. C-ADC-9
const managedAnnotation = "volumes.kubernetes.io/controller-managed-attach-detach"

// nodeAdded: C-ADC-8, C-ADC-45
func (c *Controller) nodeAdded(node *corev1.Node) {
	c.actual.flagged[node.Name] = true
	c.nodeUpdated(node, nil)
}

// nodeUpdated: C-ADC-8. A node that was managed remains managed. C-ADC-9
func (c *Controller) nodeUpdated(node, old *corev1.Node) {
	if _, managed := node.Annotations[managedAnnotation]; managed {
		c.desired.addNode(node.Name)
	}
	c.setInUse(node)
	if old == nil || isHealthy(node) != isHealthy(old) || c.isOutOfService(node) != c.isOutOfService(old) {
		c.markNode(node.Name)
	}
	if c.actual.flagged[node.Name] && c.reconciler != nil {
		c.reconciler.Wake()
	}
}

// nodeDeleted keeps the last report of the node, because a missing node does not report the
// unmounting of a volume. C-ADC-8, C-ADC-63
func (c *Controller) nodeDeleted(node *corev1.Node) {
	c.desired.removeNode(node.Name)
	c.setInUse(node)
	c.markNode(node.Name)
}

// setInUse replaces a node's volumes in use by the list in its status. C-ADC-40
func (c *Controller) setInUse(node *corev1.Node) {
	was := c.actual.inUse[node.Name]
	is := make(map[string]bool, len(node.Status.VolumesInUse))
	for _, volume := range node.Status.VolumesInUse {
		is[string(volume)] = true
	}
	c.actual.inUse[node.Name] = is
	// In any order, since a pass sorts the marks.
	for volume := range was {
		if !is[volume] && c.actual.byNode[node.Name][volume] {
			c.mark(pair{volume, node.Name})
		}
	}
}

func isHealthy(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// isOutOfService: C-ADC-25
func (c *Controller) isOutOfService(node *corev1.Node) bool {
	if !c.Version.Has(version.OutOfService) {
		return false
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeOutOfService {
			return true
		}
	}
	return false
}

// nodeCondition returns the facts that decide about a forced detach. A deleted node is unhealthy
// and has no taint. C-ADC-24, C-ADC-25
func (c *Controller) nodeCondition(name string) (healthy, outOfService bool) {
	node, ok := component.Cached[*corev1.Node](c.Component, store.Key{Name: name})
	return ok && isHealthy(node), ok && c.isOutOfService(node)
}
