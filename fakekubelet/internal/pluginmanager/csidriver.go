package pluginmanager

import (
	"context"
	"fmt"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/apimachinery/pkg/util/version"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	volumeplugin "github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/world/kernel"
)

// csiTimeout is the deadline of NodeGetInfo. K-RPC-4
const csiTimeout = 2 * time.Minute

// validate applies the version rule and the rule about duplicate names. K-REG-9, K-REG-10
func (m *Manager) validate(step string, info *registration.PluginInfo) (*version.Version, error) {
	if len(info.SupportedVersions) == 0 {
		return nil, fmt.Errorf("kubernetes.io/csi: %s for CSI driver %q failed. Plugin returned an empty list for supported versions", step, info.Name)
	}
	highest, err := version.HighestSupportedVersion(info.SupportedVersions)
	if err != nil {
		return nil, fmt.Errorf("kubernetes.io/csi: %s for CSI driver %q failed. None of the versions specified %q are supported. err=%w",
			step, info.Name, info.SupportedVersions, err)
	}
	if old, ok := m.drivers[info.Name]; ok && !old.version.LessThan(highest) {
		return nil, fmt.Errorf("kubernetes.io/csi: %s for CSI driver %q failed. Another driver with the same name is already registered with a higher supported version: %q",
			step, info.Name, old.version)
	}
	return highest, nil
}

// registerDriver adds a driver to the driver map and publishes it. Volumes may use the driver
// before it is published. K-REG-8, K-RACE-5
func (m *Manager) registerDriver(p *kernel.Process, info *registration.PluginInfo) error {
	highest, err := m.validate("RegisterPlugin", info)
	if err != nil {
		return err
	}
	m.drivers[info.Name] = driver{endpoint: info.Endpoint, version: highest}
	m.changed()
	if err := m.publishDriver(p, info.Name, m.info.Install); err != nil {
		_ = m.forgetDriver(p, info.Name) // K-REG-14: even if another socket registered it
		return err
	}
	m.info.Registered(info.Name, func(p *kernel.Process) error { return m.RefreshLimit(p, info.Name) })
	return nil
}

// forgetDriver withdraws a driver by name, even if another plugin registered it. K-REG-16
func (m *Manager) forgetDriver(p *kernel.Process, name string) error {
	if _, ok := m.drivers[name]; ok {
		delete(m.drivers, name)
		m.changed()
	}
	return m.info.Uninstall(p, name)
}

// RefreshLimit requests a driver's attach limit again and publishes it in the CSINode. K-ALLOC-1,
// K-ALLOC-3
func (m *Manager) RefreshLimit(p *kernel.Process, driver string) error {
	if err := m.publishDriver(p, driver, m.info.UpdateCSINode); err != nil {
		return fmt.Errorf("refresh the attach limit of driver %s: %w", driver, err)
	}
	return nil
}

// publishDriver publishes the driver's description of itself. It requests the description once.
// K-REG-12
func (m *Manager) publishDriver(p *kernel.Process, name string, publish func(*kernel.Process, nodeinfo.Driver) error) error {
	endpoint, ok := m.Endpoint(name)
	if !ok {
		return errNotRegistered(name)
	}
	conn := m.wire.Conn(p, m.site(name, endpoint, p.Elapsed()+csiTimeout))
	node := csi.NewNodeClient(volumeplugin.Measured(conn, m.kubelet, name, false))
	info, err := node.NodeGetInfo(context.Background(), &csi.NodeGetInfoRequest{})
	if err != nil {
		return err
	}
	return publish(p, nodeinfo.Driver{
		Name:       name,
		NodeID:     info.GetNodeId(),
		MaxVolumes: info.GetMaxVolumesPerNode(),
		Topology:   info.GetAccessibleTopology().GetSegments(),
	})
}
