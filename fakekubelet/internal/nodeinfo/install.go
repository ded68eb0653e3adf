package nodeinfo

import (
	"errors"
	"fmt"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Driver is a driver's description of itself on this node.
type Driver struct {
	Name       string
	NodeID     string
	MaxVolumes int64             // attach limit; 0 or less for none
	Topology   map[string]string // segments; empty for none
}

// Install publishes a driver: first on the Node, then in the CSINode. K-NODE-7, L-LIFE-2
func (m *Manager) Install(p *kernel.Process, d Driver) error {
	if d.NodeID == "" { // K-REG-13
		return errors.New("error adding CSI driver node info: driverNodeID must not be empty")
	}
	if err := m.update(p, "node", func() error { return m.addToNode(p, d) }); err != nil {
		return fmt.Errorf("error updating Node object with CSI driver node info: %w", err)
	}
	if err := m.UpdateCSINode(p, d); err != nil {
		return fmt.Errorf("error updating %s object with CSI driver node info: %w", m.record.kind(), err)
	}
	return nil
}

// UpdateCSINode publishes a driver only in the CSINode. K-ALLOC-1
func (m *Manager) UpdateCSINode(p *kernel.Process, d Driver) error {
	return m.update(p, m.record.kind(), func() error { return m.record.add(p, d) })
}

// Uninstall withdraws a driver: first from the CSINode, then, if that worked, from
// the Node. Topology labels stay. K-NODE-13, K-REG-19, L-LIFE-9
func (m *Manager) Uninstall(p *kernel.Process, driver string) error {
	err := m.update(p, m.record.kind(), func() error { return m.record.remove(p, driver) })
	if err != nil {
		return fmt.Errorf("error uninstalling CSI driver from %s object %w", m.record.kind(), err)
	}
	if err := m.update(p, "node", func() error { return m.removeFromNode(p, driver) }); err != nil {
		return fmt.Errorf("error removing CSI driver node info from Node object %w", err)
	}
	return nil
}
