package nodeinfo

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
)

// csiNode is the record since v1.14.
type csiNode struct{ *Manager }

func (csiNode) kind() string { return "CSINode" }

func (m csiNode) probe(p *kernel.Process) error {
	_, err := component.Live[*storagev1.CSINode](p, m.kubelet, m.key())
	return err
}

// initialize: K-NODE-3
func (m csiNode) initialize(p *kernel.Process) error {
	if err := m.readUID(p); err != nil {
		return err
	}
	csiNode, err := component.Live[*storagev1.CSINode](p, m.kubelet, m.key())
	if apierrors.IsNotFound(err) {
		_, err = m.create(p)
		return err
	}
	if err != nil {
		return err
	}
	if err := m.checkOwner(p, csiNode); err != nil {
		return err
	}
	changed := csiNode.DeepCopy()
	if !m.setMigrated(changed) {
		return nil
	}
	_, err = component.Update(p, m.kubelet, changed)
	return err
}

// setMigrated reports whether it changed the annotation. C-MIG-5, K-NODE-4
func (m csiNode) setMigrated(n *storagev1.CSINode) bool {
	return migration.SetOnNode(n, m.migration.Enabled())
}

// create makes the CSINode, owned by the node. K-NODE-4
func (m csiNode) create(p *kernel.Process) (*storagev1.CSINode, error) {
	n := &storagev1.CSINode{ObjectMeta: m.ownedByNode()}
	m.setMigrated(n)
	return component.Create(p, m.kubelet, n)
}

// checkOwner deletes a CSINode that belongs to another node object of this name. K-NODE-5
func (m csiNode) checkOwner(p *kernel.Process, n *storagev1.CSINode) error {
	for _, owner := range n.OwnerReferences {
		if owner.Kind == "Node" && owner.Name == m.kubelet.Node && owner.UID == m.nodeUID {
			return nil
		}
	}
	if _, err := component.Delete[*storagev1.CSINode](p, m.kubelet, m.key()); err != nil {
		return fmt.Errorf("delete CSINode %s, which another node object owns: %w", n.Name, err)
	}
	return fmt.Errorf("CSINode %s was owned by another node object and is deleted", n.Name)
}

// add: K-NODE-7
func (m csiNode) add(p *kernel.Process, d Driver) error {
	if err := m.knowUID(p); err != nil {
		return err
	}
	n, err := component.Live[*storagev1.CSINode](p, m.kubelet, m.key())
	if apierrors.IsNotFound(err) {
		n, err = m.create(p)
	}
	if err != nil {
		return err
	}
	if err := m.checkOwner(p, n); err != nil {
		return err
	}
	changed := n.DeepCopy()
	annotated := m.setMigrated(changed)
	if !setDriver(&changed.Spec, d.entry()) && !annotated { // K-NODE-11
		return nil
	}
	_, err = component.Update(p, m.kubelet, changed)
	return err
}

// remove removes a driver from the CSINode, whatever the CSINode's owner. K-NODE-13, K-NODE-14
func (m csiNode) remove(p *kernel.Process, driver string) error {
	n, err := component.Live[*storagev1.CSINode](p, m.kubelet, m.key())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	changed := n.DeepCopy()
	if !dropDriver(&changed.Spec, driver) {
		return nil
	}
	_, err = component.Update(p, m.kubelet, changed)
	return err
}

// ownedByNode returns metadata with the node's name and with the node as the owner. K-NODE-4,
// L-OBJ-3
func (m *Manager) ownedByNode() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            m.kubelet.Node,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: m.kubelet.Node, UID: m.nodeUID}},
	}
}

// knowUID reads the node's UID, unless the initialisation has read it or will read it. K-NODE-14
func (m *Manager) knowUID(p *kernel.Process) error {
	if m.early || m.nodeUID != "" {
		return nil
	}
	return m.readUID(p)
}

func (m *Manager) readUID(p *kernel.Process) error {
	node, err := component.Live[*corev1.Node](p, m.kubelet, m.key())
	if err != nil {
		return err
	}
	m.nodeUID = node.UID
	return nil
}

// entry returns the driver's entry in the CSINode. K-NODE-10
func (d Driver) entry() storagev1.CSINodeDriver {
	e := storagev1.CSINodeDriver{Name: d.Name, NodeID: d.NodeID}
	if len(d.Topology) > 0 {
		e.TopologyKeys = slices.Sorted(maps.Keys(d.Topology))
	}
	if d.MaxVolumes > 0 {
		count := int32(min(d.MaxVolumes, math.MaxInt32))
		e.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
	}
	return e
}

// setDriver appends the entry to the list unless an equal entry exists, and reports whether it
// changed the list. K-NODE-10, K-NODE-11
func setDriver(spec *storagev1.CSINodeSpec, entry storagev1.CSINodeDriver) bool {
	for _, old := range spec.Drivers {
		if old.Name == entry.Name && sameEntry(old, entry) {
			return false
		}
	}
	dropDriver(spec, entry.Name)
	spec.Drivers = append(spec.Drivers, entry)
	return true
}

func sameEntry(a, b storagev1.CSINodeDriver) bool {
	return a.NodeID == b.NodeID && sameKeys(a.TopologyKeys, b.TopologyKeys) && volumeLimit(a) == volumeLimit(b)
}

func sameKeys(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// volumeLimit returns an entry's limit; 0 for none.
func volumeLimit(e storagev1.CSINodeDriver) int32 {
	if e.Allocatable == nil || e.Allocatable.Count == nil {
		return 0
	}
	return *e.Allocatable.Count
}

// dropDriver reports whether the driver was in the list. An empty list is nil, as
// the API server returns it.
func dropDriver(spec *storagev1.CSINodeSpec, name string) bool {
	before := len(spec.Drivers)
	spec.Drivers = slices.DeleteFunc(spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == name })
	dropped := len(spec.Drivers) < before
	if len(spec.Drivers) == 0 {
		spec.Drivers = nil
	}
	return dropped
}
