package attachdetach

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// patchNodes writes the status of the nodes with changed lists. A node that cannot be written stays
// marked for the next pass. C-ADC-43
func (c *Controller) patchNodes(p *kernel.Process) {
	for _, node := range slices.Sorted(maps.Keys(c.actual.flagged)) {
		if err := c.patchNode(p, node); err != nil {
			c.reconciler.Wake()
		}
	}
}

// patchNode sets node.status.volumesAttached if the node is flagged. A node that the cache lacks is
// skipped. C-ADC-27, C-ADC-43
func (c *Controller) patchNode(p *kernel.Process, name string) error {
	if !c.actual.flagged[name] {
		return nil
	}
	delete(c.actual.flagged, name)
	node, ok := component.Cached[*corev1.Node](c.Component, store.Key{Name: name})
	if !ok {
		return nil
	}
	list := attachedList(c.actual.reports[name])
	if sameVolumes(node.Status.VolumesAttached, list) {
		return nil // a patch computed from the cache would be empty
	}
	_, err := component.SetStatus(p, c.Component, store.KeyOf(node), func(n *corev1.Node) { n.Status.VolumesAttached = list })
	if err != nil {
		c.actual.flagged[name] = true
		return fmt.Errorf("write volumesAttached of node %s: %w", name, err)
	}
	return nil
}

func attachedList(volumes map[string]bool) []corev1.AttachedVolume {
	if len(volumes) == 0 {
		return nil
	}
	list := make([]corev1.AttachedVolume, 0, len(volumes))
	for name := range volumes { // in any order: the list is sorted
		list = append(list, corev1.AttachedVolume{Name: corev1.UniqueVolumeName(name)})
	}
	slices.SortFunc(list, func(a, b corev1.AttachedVolume) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func sameVolumes(a, b []corev1.AttachedVolume) bool {
	if len(a) != len(b) {
		return false
	}
	names := make(map[corev1.UniqueVolumeName]bool, len(a))
	for _, v := range a {
		names[v.Name] = true
	}
	for _, v := range b {
		if !names[v.Name] {
			return false
		}
	}
	return true
}
