package provisioner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// chosenTopology is the topology that a claim's first attempt has chosen. Later attempts use it
// again, so the driver gets the same request. C-PROV-34
type chosenTopology struct {
	keys      []string
	selected  term // segment of the selected node
	requisite []term
}

// topologyFor returns the topology requirement for the volume of a claim.
func (c *Provisioner) topologyFor(pvc claim, class *storagev1.StorageClass, node string) (*csi.TopologyRequirement, result) {
	chosen, ok := c.topologies[pvc.UID]
	if !ok {
		chosen = &chosenTopology{}
		c.topologies[pvc.UID] = chosen
	}
	if node != "" {
		if r := c.lookUpNode(chosen, node); r.err != nil {
			if c.isOld() {
				return nil, c.degraded(class, r)
			}
			return nil, r
		}
	}
	if chosen.requisite == nil {
		r := c.chooseRequisite(chosen, class, node)
		if r.err != nil || chosen.requisite == nil {
			return nil, r
		}
	}
	requirement, err := preferred(chosen, node, pvc.Name)
	if err != nil {
		return nil, result{state: noChange, err: fmt.Errorf("error generating accessibility requirements: %w", err)}
	}
	return requirement, result{}
}

// lookUpNode finds the selected node's segment. Without its CSINode the scheduler has to select
// another node. C-PROV-31
func (c *Provisioner) lookUpNode(chosen *chosenTopology, name string) result {
	wrap := func(err error) error { return fmt.Errorf("error generating accessibility requirements: %w", err) }
	if chosen.keys == nil {
		csiNode, ok := c.csiNode(name)
		if !ok {
			return result{state: reschedule, err: wrap(fmt.Errorf("error getting CSINode for selected node %q: %w", name, store.NotFound[*storagev1.CSINode](store.Key{Name: name})))}
		}
		if chosen.keys = topologyKeys(csiNode, c.driver); len(chosen.keys) == 0 {
			return result{state: noChange, err: wrap(fmt.Errorf("no topology key found on CSINode %s", name))}
		}
	}
	if chosen.selected == nil {
		node, ok := c.node(name)
		if !ok {
			return result{state: noChange, err: wrap(fmt.Errorf("error getting node %q", name))}
		}
		if chosen.selected, ok = segmentOf(node.Labels, chosen.keys); !ok {
			return result{state: noChange, err: wrap(fmt.Errorf("node %q lacks one of the topology labels %v", name, chosen.keys))}
		}
	}
	return result{}
}

// topologyKeys returns the topology keys of a driver on a node; nil for none.
func topologyKeys(node *storagev1.CSINode, driver string) []string {
	for _, d := range node.Spec.Drivers {
		if d.Name == driver {
			return d.TopologyKeys
		}
	}
	return nil
}

// chooseRequisite leaves the requisite terms nil if the request has no topology. C-PROV-31,
// C-PROV-32
func (c *Provisioner) chooseRequisite(chosen *chosenTopology, class *storagev1.StorageClass, node string) result {
	fail := func(err error) result {
		return result{state: noChange, err: fmt.Errorf("error generating accessibility requirements: %w", err)}
	}
	allowed := flatten(class.AllowedTopologies)
	switch {
	case node != "" && c.options.StrictTopology:
		if len(allowed) > 0 && !slices.ContainsFunc(allowed, func(t term) bool { return t.within(chosen.selected) }) {
			return fail(fmt.Errorf("selected node %q does not match the allowed topologies of class %s", node, class.Name))
		}
		chosen.requisite = []term{chosen.selected}
	case len(allowed) > 0:
		chosen.requisite = allowed
	case node == "" && !*c.options.ImmediateTopology:
	case node == "" && len(c.someKeys()) == 0 && c.isOld(): // L-PROV-2
	case node == "" && len(c.someKeys()) == 0:
		return fail(errors.New("no topology key found"))
	default:
		keys := chosen.keys
		if keys == nil {
			keys = c.someKeys()
			chosen.keys = keys
		}
		if chosen.requisite = c.segmentsOf(keys); len(chosen.requisite) == 0 {
			return fail(errors.New("topology labels are missing on all nodes"))
		}
	}
	return result{}
}

// preferred puts the term of the selected node first. Without a selected node, the first term
// depends on the claim's name.
func preferred(chosen *chosenTopology, node, claimName string) (*csi.TopologyRequirement, error) {
	lead := 0
	if node == "" {
		lead = spread(claimName, len(chosen.requisite))
	} else {
		lead = slices.IndexFunc(chosen.requisite, func(t term) bool { return t.within(chosen.selected) })
		if lead < 0 {
			return nil, fmt.Errorf("topology %v of selected node %q is not among the requisite topologies", chosen.selected, node)
		}
	}
	return &csi.TopologyRequirement{
		Requisite: topologies(chosen.requisite),
		Preferred: topologies(startingAt(chosen.requisite, lead)),
	}, nil
}

// someKeys returns the topology keys of the first node that has any.
func (c *Provisioner) someKeys() []string {
	for node := range c.csiNodes() {
		if keys := topologyKeys(node, c.driver); len(keys) > 0 {
			return keys
		}
	}
	return nil
}

// segmentsOf returns the distinct segments of all nodes that have all keys.
func (c *Provisioner) segmentsOf(keys []string) []term {
	memo := strings.Join(keys, "\n")
	if known, ok := c.segments[memo]; ok {
		return known
	}
	var found []term
	for node := range c.nodes() {
		if segment, ok := segmentOf(node.Labels, keys); ok {
			found = append(found, segment)
		}
	}
	found = distinct(found)
	c.segments[memo] = found
	return found
}

// followNodes clears the cached segments when a node is added, removed or relabelled.
func (c *Provisioner) followNodes(p *kernel.Process) {
	nodes := component.Watch[*corev1.Node](c.Component, p)
	for {
		for e, ok := nodes.Next(); ok; e, ok = nodes.Next() {
			if e.Type != store.Modified || !maps.Equal(e.Object.Labels, e.Old.Labels) {
				clear(c.segments)
			}
		}
		p.Wait("changes of nodes", func() bool { return nodes.Len() > 0 })
	}
}
