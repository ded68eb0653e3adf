package provisioner

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// isOld reports whether the sidecar is from a release before CSINodes.
func (c *Provisioner) isOld() bool { return !c.Began.Has(version.CSINode) }

// csiNode returns the list of a node's drivers. The sidecar ignores whether they are available.
// L-PROV-1
func (c *Provisioner) csiNode(name string) (*storagev1.CSINode, bool) {
	key := store.Key{Name: name}
	if c.local != nil {
		return c.local.csiNode, name == c.local.csiNode.Name
	}
	if !c.isOld() {
		return component.Cached[*storagev1.CSINode](c.Component, key)
	}
	info, ok := component.Cached[*legacy.CSINodeInfo](c.Component, key)
	if !ok {
		return nil, false
	}
	return info.AsCSINode(), true
}

// csiNodes returns the CSINodes of all nodes.
func (c *Provisioner) csiNodes() iter.Seq[*storagev1.CSINode] {
	if c.local != nil {
		return slices.Values([]*storagev1.CSINode{c.local.csiNode})
	}
	if !c.isOld() {
		return store.List[*storagev1.CSINode](c.Cache, "")
	}
	return func(yield func(*storagev1.CSINode) bool) {
		for info := range store.List[*legacy.CSINodeInfo](c.Cache, "") {
			if !yield(info.AsCSINode()) {
				return
			}
		}
	}
}

// nodes returns the nodes of the cluster. With node deployment, it returns only the sidecar's own
// node.
func (c *Provisioner) nodes() iter.Seq[*corev1.Node] {
	if c.local != nil {
		return slices.Values([]*corev1.Node{c.local.node})
	}
	return store.List[*corev1.Node](c.Cache, "")
}

func (c *Provisioner) node(name string) (*corev1.Node, bool) {
	if c.local != nil {
		return c.local.node, name == c.local.node.Name
	}
	return component.Cached[*corev1.Node](c.Component, store.Key{Name: name})
}

// degraded returns the result for a claim with a selected node that has no topology. The volume has
// no topology either; if the class requires one, the result is an error. L-PROV-3, L-PROV-4
func (c *Provisioner) degraded(class *storagev1.StorageClass, failure result) result {
	if len(class.AllowedTopologies) == 0 {
		return result{}
	}
	failure.state = noChange
	return failure
}
