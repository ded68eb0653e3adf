package cluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// Missing returns the first node that is not up, or the first driver that is not up on a node.
func (ds *Drivers) Missing() string {
	for _, n := range ds.Nodes.All {
		if n.Kubelet == nil {
			continue
		}
		node, ok := store.Get[*corev1.Node](ds.World.Store, store.Key{Name: n.Name})
		if !ok || !isReady(node) {
			return "node " + n.Name + " to be Ready"
		}
		if !n.Kubelet.Up() {
			return "the kubelet of " + n.Name + " to come up"
		}
		for _, d := range ds.All {
			if p := d.Nodes[n.Name]; p != nil && p.registrar != nil && p.registrar.Running() && !ds.registered(d, n) {
				return fmt.Sprintf("driver %s to be registered on %s", d.Name, n.Name)
			}
		}
	}
	return ""
}

// Refused lists the drivers that kubelets do not register, with the kubelets' messages.
func (ds *Drivers) Refused() (lines []string) {
	for _, n := range ds.Nodes.All {
		for _, d := range ds.All {
			if p := d.Nodes[n.Name]; p != nil && p.registrar != nil && !ds.registered(d, n) && p.registrar.Refusal() != "" {
				lines = append(lines, fmt.Sprintf("the kubelet of %s refuses driver %s: %s", n.Name, d.Name, p.registrar.Refusal()))
			}
		}
	}
	return lines
}

// registered reports whether a driver is registered on a node. The kubelet lists a driver as soon
// as the registration begins. The CSINode, or its equivalent for an old kubelet, shows whether the
// driver has returned the node's id.
func (ds *Drivers) registered(d *Driver, n *Node) bool {
	return slices.Contains(n.Kubelet.Registered(), d.Name) && volume.IsInstalled(ds.World.Store, n.Version, n.Name, d.Name)
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
