package nodeinfo

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/version"
)

// nodeIDAnnotation holds the node's ids, one per driver, as a JSON map.
const nodeIDAnnotation = "csi.volume.kubernetes.io/nodeid"

// addToNode tries once to publish a driver on the Node. K-NODE-7
func (m *Manager) addToNode(p *kernel.Process, d Driver) error {
	node, err := component.Live[*corev1.Node](p, m.kubelet, m.key())
	if err != nil {
		return err
	}
	ids, err := nodeIDs(node)
	if err != nil {
		return err
	}
	missing, err := missingLabels(node.Labels, d.Topology)
	if err != nil {
		return err
	}
	if ids[d.Name] == d.NodeID && len(d.Topology) == 0 && m.hasLimit(node, d) { // K-NODE-8
		return nil
	}
	ids[d.Name] = d.NodeID
	return m.patchNode(p, ids, func(node *corev1.Node) {
		// Labels may be set in any order.
		for key, value := range missing {
			metav1.SetMetaDataLabel(&node.ObjectMeta, key, value)
		}
		m.setLimit(node, d.Name, d.limit())
	})
}

// removeFromNode tries once to withdraw a driver from the Node. K-NODE-13
func (m *Manager) removeFromNode(p *kernel.Process, driver string) error {
	node, err := component.Live[*corev1.Node](p, m.kubelet, m.key())
	if err != nil {
		return err
	}
	ids, err := nodeIDs(node)
	if err != nil {
		return err
	}
	if _, there := ids[driver]; !there {
		return nil
	}
	delete(ids, driver)
	return m.patchNode(p, ids, func(node *corev1.Node) { m.setLimit(node, driver, 0) })
}

// patchNode replaces the whole annotation, without a resource version. Concurrent writes of others
// are lost. K-RACE-9
func (m *Manager) patchNode(p *kernel.Process, ids map[string]string, change func(*corev1.Node)) error {
	text, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", nodeIDAnnotation, err)
	}
	_, err = component.SetStatus(p, m.kubelet, m.key(), func(node *corev1.Node) {
		node.Labels, node.Annotations = maps.Clone(node.Labels), maps.Clone(node.Annotations)
		if len(ids) == 0 {
			delete(node.Annotations, nodeIDAnnotation)
		} else {
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, nodeIDAnnotation, string(text))
		}
		change(node)
	})
	return err
}

// limit returns the number of volumes that the driver can attach to the node; 0 for no limit.
func (d Driver) limit() int64 { return max(d.MaxVolumes, 0) }

// hasLimit reports whether a Node has the driver's limit, or does not need it because a CSINode
// exists. L-NEXT-3
func (m *Manager) hasLimit(node *corev1.Node, d Driver) bool {
	limit := node.Status.Capacity[legacy.LimitName(d.Name)]
	return m.kubelet.Version.Has(version.CSINode) || limit.Value() == d.limit()
}

// setLimit gives a Node a driver's limit. L-NEXT-3
func (m *Manager) setLimit(node *corev1.Node, driver string, limit int64) {
	if m.kubelet.Version.Has(version.CSINode) {
		return
	}
	name := legacy.LimitName(driver)
	for _, resources := range []*corev1.ResourceList{&node.Status.Capacity, &node.Status.Allocatable} {
		changed := corev1.ResourceList{}
		maps.Copy(changed, *resources)
		delete(changed, name)
		if limit > 0 {
			changed[name] = *resource.NewQuantity(limit, resource.DecimalSI)
		}
		*resources = changed
	}
}

func nodeIDs(node *corev1.Node) (map[string]string, error) {
	ids := map[string]string{}
	text := node.Annotations[nodeIDAnnotation]
	if text == "" {
		return ids, nil
	}
	if err := json.Unmarshal([]byte(text), &ids); err != nil {
		return nil, fmt.Errorf("failed to parse annotation %s=%q of node %s: %w", nodeIDAnnotation, text, node.Name, err)
	}
	if ids == nil { // the annotation says null
		ids = map[string]string{}
	}
	return ids, nil
}

// missingLabels returns the topology labels that a node does not have yet. An existing label is
// never changed. K-NODE-9
func missingLabels(labels, topology map[string]string) (map[string]string, error) {
	missing := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(topology)) {
		is, there := labels[key]
		switch {
		case !there:
			missing[key] = topology[key]
		case is != topology[key]:
			return nil, fmt.Errorf("detected topology value collision: driver reported %q:%q but existing label is %q:%q",
				key, topology[key], key, is)
		}
	}
	return missing, nil
}
