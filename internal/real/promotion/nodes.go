package promotion

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim"
)

// NodeLabels returns the additional labels of nodes, by node.
func NodeLabels(nodes []sim.Node) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, n := range nodes {
		labels := maps.Clone(n.Labels)
		// The order has no effect on a map.
		for label, value := range map[string]string{corev1.LabelTopologyZone: n.Zone, corev1.LabelTopologyRegion: n.Region} {
			if value != "" {
				if labels == nil {
					labels = map[string]string{}
				}
				labels[label] = value
			}
		}
		all[n.Name] = labels
	}
	return all
}

// NodeTaints returns the taints of nodes, by node.
func NodeTaints(nodes []sim.Node) map[string][]corev1.Taint {
	all := map[string][]corev1.Taint{}
	for _, n := range nodes {
		all[n.Name] = n.Taints
	}
	return all
}
