package nodeinfo

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/migration"
)

// csiNodeInfo is the record of v1.13. The kubelet never deletes its object, and a restart does not
// change the object. L-LIFE-10, L-LIFE-11
type csiNodeInfo struct{ *Manager }

func (csiNodeInfo) kind() string { return "CSINodeInfo" }

func (m csiNodeInfo) probe(p *kernel.Process) error {
	_, err := m.get(p)
	return err
}

// errNoCRD is the API server's error for a kind that it does not serve.
var errNoCRD = errors.New("the server could not find the requested resource (post csinodeinfos.csi.storage.k8s.io)")

func (m csiNodeInfo) get(p *kernel.Process) (*legacy.CSINodeInfo, error) {
	return component.Live[*legacy.CSINodeInfo](p, m.kubelet, m.key())
}

// initialize makes the object when the kubelet starts. L-START-2, L-START-3
func (m csiNodeInfo) initialize(p *kernel.Process) error {
	if err := m.readUID(p); err != nil {
		return err
	}
	n, err := m.getOrCreate(p)
	if err != nil {
		return err
	}
	changed, differs := n.DeepCopy(), false
	for i := range changed.Status.Drivers { // L-LIFE-12
		d := &changed.Status.Drivers[i]
		if now := m.mechanism(d.Name); d.VolumePluginMechanism != now {
			d.VolumePluginMechanism, differs = now, true
		}
	}
	for _, driver := range m.announced() {
		if _, ok := changed.Driver(driver); !ok {
			changed.Spec.Drivers = append(changed.Spec.Drivers, legacy.DriverSpec{Name: driver, TopologyKeys: []string{}})
			changed.Status.Drivers = append(changed.Status.Drivers, legacy.DriverStatus{Name: driver, VolumePluginMechanism: legacy.CSI})
			differs = true
		}
	}
	if !differs {
		return nil
	}
	return m.write(p, changed)
}

// announced returns the drivers of migrated plugins, if they are announced before they register.
func (m csiNodeInfo) announced() []string {
	if !m.kubelet.Legacy.AnnounceMigrated {
		return nil
	}
	var drivers []string
	for _, plugin := range m.migration.Enabled() {
		driver, _ := migration.Driver(plugin)
		drivers = append(drivers, driver)
	}
	return drivers
}

// getOrCreate returns the object. If the object does not exist, getOrCreate creates one with two
// empty lists. L-LIFE-1, L-VAL-2
func (m csiNodeInfo) getOrCreate(p *kernel.Process) (*legacy.CSINodeInfo, error) {
	if err := m.knowUID(p); err != nil {
		return nil, err
	}
	n, err := m.get(p)
	switch {
	case !apierrors.IsNotFound(err):
		return n, err
	case m.kubelet.Legacy.NoCRD: // L-LIFE-8
		return nil, errNoCRD
	}
	return component.Create(p, m.kubelet, &legacy.CSINodeInfo{
		ObjectMeta: m.ownedByNode(),
		Spec:       legacy.CSINodeInfoSpec{Drivers: []legacy.DriverSpec{}},
		Status:     legacy.CSINodeInfoStatus{Drivers: []legacy.DriverStatus{}},
	})
}

// add: L-LIFE-5, L-LIFE-6
func (m csiNodeInfo) add(p *kernel.Process, d Driver) error {
	n, err := m.getOrCreate(p)
	if err != nil {
		return err
	}
	spec := legacy.DriverSpec{Name: d.Name, NodeID: d.NodeID, TopologyKeys: slices.AppendSeq([]string{}, maps.Keys(d.Topology))}
	slices.Sort(spec.TopologyKeys)
	status := legacy.DriverStatus{Name: d.Name, Available: true, VolumePluginMechanism: m.mechanism(d.Name)}
	sameSpec := func(was legacy.DriverSpec) bool {
		return was.Name == spec.Name && was.NodeID == spec.NodeID && sameKeys(was.TopologyKeys, spec.TopologyKeys)
	}
	if slices.ContainsFunc(n.Spec.Drivers, sameSpec) && slices.Contains(n.Status.Drivers, status) {
		return nil
	}
	changed := n.DeepCopy()
	changed.Spec.Drivers = append(slices.DeleteFunc(changed.Spec.Drivers, func(was legacy.DriverSpec) bool { return was.Name == d.Name }), spec)
	changed.Status.Drivers = append(slices.DeleteFunc(changed.Status.Drivers, func(was legacy.DriverStatus) bool { return was.Name == d.Name }), status)
	return m.write(p, changed)
}

// mechanism returns the mechanism for a driver's in-tree volumes on this node: CSI if the driver's
// plugin is migrated here. L-LIFE-7
func (m csiNodeInfo) mechanism(driver string) legacy.Mechanism {
	if plugin, ok := migration.PluginOf(driver); ok && m.migration.Stage(plugin) != migration.Disabled {
		return legacy.CSI
	}
	return legacy.InTree
}

// remove keeps the driver's entries. A missing object is an error. L-LIFE-9
func (m csiNodeInfo) remove(p *kernel.Process, driver string) error {
	n, err := m.get(p)
	if err != nil {
		return err
	}
	changed := n.DeepCopy()
	i := slices.IndexFunc(changed.Status.Drivers, func(d legacy.DriverStatus) bool { return d.Name == driver })
	if i < 0 || !changed.Status.Drivers[i].Available {
		return nil
	}
	changed.Status.Drivers[i].Available = false
	return m.write(p, changed)
}

func (m csiNodeInfo) write(p *kernel.Process, n *legacy.CSINodeInfo) error {
	if err := valid(n); err != nil {
		return err
	}
	_, err := component.Update(p, m.kubelet, n)
	return err
}

// valid rejects an object if other writers have made it invalid. L-VAL-1
func valid(n *legacy.CSINodeInfo) error {
	specs, statuses := sets.New[string](), sets.New[string]()
	for _, d := range n.Spec.Drivers {
		specs.Insert(d.Name)
		if sets.New(d.TopologyKeys...).Len() != len(d.TopologyKeys) {
			return fmt.Errorf("duplicate topology keys found for driver %q in CSINodeInfo %s", d.Name, n.Name)
		}
	}
	for _, d := range n.Status.Drivers {
		statuses.Insert(d.Name)
	}
	switch {
	case specs.Len() == 0:
		return fmt.Errorf("at least one driver must be in CSINodeInfo %s", n.Name)
	case specs.Len() != len(n.Spec.Drivers) || statuses.Len() != len(n.Status.Drivers):
		return fmt.Errorf("duplicate drivers found in CSINodeInfo %s", n.Name)
	case !specs.Equal(statuses):
		return fmt.Errorf("spec and status of CSINodeInfo %s list different drivers", n.Name)
	}
	return nil
}
