package attachdetach

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/volume"
)

// pair is a volume, by its unique name, on a node.
type pair struct{ volume, node string }

func (a pair) compare(b pair) int {
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.volume, b.volume))
}

// spec holds the known facts about a volume. If only the unique name was recovered, from a node's
// status, the spec is nil. C-ADC-5
type spec struct {
	pv             *corev1.PersistentVolume
	driver, handle string
	inline         bool   // the PV is generated for a volume in a pod's spec
	plugin         string // the in-tree plugin that the driver replaces, if any
}

func (s *spec) unique() string { return volume.UniqueName(s.driver, s.handle) }

// multiAttachAllowed: C-ADC-31
func (s *spec) multiAttachAllowed() bool { return s == nil || volume.MultiAttachAllowed(s.pv) }

// operationKey: an operation on a volume with a single-node access mode excludes all others on that
// volume. C-OP-7
func (s *spec) operationKey(at pair) operation.Key {
	if s.multiAttachAllowed() {
		return operation.Key{Volume: at.volume, Node: at.node}
	}
	return operation.Key{Volume: at.volume}
}

// specOf describes a persistent volume that a CSI driver serves, also for a migrated plugin. It is
// false for other volumes. C-MIG-3
func (c *Controller) specOf(pv *corev1.PersistentVolume) (*spec, bool) {
	plugin, _ := c.Migration.Plugin(pv)
	pv, err := c.Migration.PV(pv)
	if err != nil || pv.Spec.CSI == nil {
		return nil, false
	}
	return &spec{pv: pv, driver: pv.Spec.CSI.Driver, handle: pv.Spec.CSI.VolumeHandle, plugin: plugin}, true
}

// attachable is specOf for volumes that are attached before use. C-GEN-11
func (c *Controller) attachable(pv *corev1.PersistentVolume) (*spec, bool) {
	s, ok := c.specOf(pv)
	return s, ok && volume.MustAttach(c.Component, s.driver)
}
