package attachdetach

import (
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// While the migration of a plugin is enabled but not complete, each node decides whether the driver
// or the in-tree plugin attaches a volume. Since v1.17 this decision determines whether the volume
// is desired; before, the operations made the decision. L-ADC-6

// isMigrating reports whether the node decides about the plugin for a volume. C-MIG-3
func (c *Controller) isMigrating(s *spec) bool {
	return s != nil && s.plugin != "" && c.Migration.Stage(s.plugin) == migration.Enabled
}

// desires reports whether the driver should attach a volume to a node. known is false if that is
// not known yet. C-MIG-3
func (c *Controller) desires(s *spec, node string) (wanted, known bool) {
	if !c.isMigrating(s) || !c.Version.Has(version.MigrationInDesiredState) {
		return true, true
	}
	wanted, err := c.byDriver(s, node)
	return wanted, err == nil
}

// decidesLate reports whether operations on a volume have to determine its plugin.
func (c *Controller) decidesLate(s *spec) bool {
	return c.isMigrating(s) && !c.Version.Has(version.MigrationInDesiredState)
}

// byDriver reports whether the driver, not the in-tree plugin, acts for a volume on a node. It
// returns an error if the node has not reported the plugin. C-MIG-3, L-ADC-2
func (c *Controller) byDriver(s *spec, node string) (bool, error) {
	if !c.Version.Has(version.CSINode) {
		return c.byMechanism(s, node)
	}
	n, ok := component.Cached[*storagev1.CSINode](c.Component, store.Key{Name: node})
	if !ok {
		return false, store.NotFound[*storagev1.CSINode](store.Key{Name: node})
	}
	migrated := migration.OnNode(n)[s.plugin]
	installed := func(d storagev1.CSINodeDriver) bool { return d.Name == s.driver }
	if migrated && c.decidesLate(s) && !slices.ContainsFunc(n.Spec.Drivers, installed) {
		return false, notInstalled(s, node)
	}
	return migrated, nil
}

func (c *Controller) byMechanism(s *spec, node string) (bool, error) {
	n, ok := component.Cached[*legacy.CSINodeInfo](c.Component, store.Key{Name: node})
	if !ok {
		return false, store.NotFound[*legacy.CSINodeInfo](store.Key{Name: node})
	}
	switch d, ok := n.Driver(s.driver); {
	case !ok:
		return false, fmt.Errorf("CSINodeInfo %s does not contain driver %s", node, s.driver)
	case d.VolumePluginMechanism != legacy.CSI:
		return false, nil
	case !d.Available:
		return false, notInstalled(s, node)
	}
	return true, nil
}

func notInstalled(s *spec, node string) error {
	return fmt.Errorf("in-tree plugin %s is migrated on node %s but driver %s is not installed", s.plugin, node, s.driver)
}

// mustWait reports whether an operation has to wait because the node has not reported the plugin of
// the volume. The next pass retries the operation. L-ADC-5
func (c *Controller) mustWait(at pair, s *spec) error {
	if !c.decidesLate(s) || (!c.Version.Has(version.CSINode) && !c.Legacy.NoBackoff) {
		return nil
	}
	_, err := c.byDriver(s, at.node)
	if err != nil {
		c.agenda.set(at, c.Kernel.Elapsed()+pollPeriod)
	}
	return err
}

// actsFor is byDriver for an operation. L-ADC-4
func (c *Controller) actsFor(at pair, s *spec) (driver bool, err error) {
	if !c.decidesLate(s) {
		return true, nil
	}
	return c.byDriver(s, at.node)
}

// checkHandover reports a volume that one plugin attached and the other plugin has to detach.
// Neither of them detaches it. L-ADC-7
func (c *Controller) checkHandover(at pair, s *spec, byDriver bool) {
	attachment := c.actual.get(at)
	if attachment == nil || attachment.inTree != byDriver {
		return
	}
	message := fmt.Sprintf("the in-tree plugin %s attached volume %s to node %s and driver %s is to detach it: it stays attached", s.plugin, at.volume, at.node, s.driver)
	if !byDriver {
		message = fmt.Sprintf("driver %s attached volume %s to node %s and the in-tree plugin %s is to detach it: VolumeAttachment %s stays", s.driver, at.volume, at.node, s.plugin, objectName(at))
	}
	message += "; drain a node before the migration of its plugins changes"
	c.Trace.Add(trace.Entry{
		Kind: trace.Violation, Actor: c.Name, Node: at.node, Driver: s.driver, Message: message, Detail: verdict.HandedOver(at.node, message),
	})
}
