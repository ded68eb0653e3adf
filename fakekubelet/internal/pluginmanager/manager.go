// Package pluginmanager finds the registration sockets of plugins on a node and
// registers and unregisters the CSI drivers behind them.
package pluginmanager

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/operation"
)

// registryDir returns the directory of the plugins' registration sockets. K-PATH-2
func (m *Manager) registryDir() string { return m.machine.Layout().KubeletDir() + "/plugins_registry" }

// Manager is the plugin manager of one kubelet.
type Manager struct {
	kubelet *component.Component
	machine machine.Machine
	wire    *wire.Wire
	info    *nodeinfo.Manager

	creations  creation // number of the last one
	desired    desiredState
	actual     actualState
	drivers    map[string]driver // the driver map of K-RPC-10, by name
	operations *operation.Pending
	attempts   map[string]attempt         // by socket, the last registration that failed
	dialling   map[string]*kernel.Process // by socket
	reconciler *kernel.Process
	onChange   []func()
}

// driver is an entry of the driver map.
type driver struct {
	endpoint string
	version  *version.Version
}

// Start begins to watch the plugins' directory. K-REG-2
func Start(c *component.Component, m machine.Machine, wire *wire.Wire, info *nodeinfo.Manager) *Manager {
	pm := &Manager{
		kubelet: c, machine: m, wire: wire, info: info,
		desired: desiredState{}, actual: actualState{}, drivers: map[string]driver{}, attempts: map[string]attempt{},
		dialling: map[string]*kernel.Process{},
	}
	c.Metrics.Collect(pm.collect)
	pm.operations = operation.New(c.Kernel, c.Go, func(operation.Key) { pm.reconciler.Wake() })
	pm.reconciler = c.Go("plugin-manager", pm.reconcile)
	return pm
}

// collect counts the plugins by socket. K-REG-21
func (m *Manager) collect(set func(name string, value float64, labels ...string)) {
	for _, socket := range slices.Sorted(maps.Keys(m.actual)) {
		set("plugin_manager_total_plugins", 1, "socket_path", socket, "state", "actual_state_of_world")
	}
	for _, socket := range slices.Sorted(maps.Keys(m.desired)) {
		set("plugin_manager_total_plugins", 1, "socket_path", socket, "state", "desired_state_of_world")
	}
}

// Endpoint returns the socket of a registered driver, as a path on the node. K-RPC-10
func (m *Manager) Endpoint(driver string) (socket string, ok bool) {
	d, ok := m.drivers[driver]
	return d.endpoint, ok
}

// Registered returns the names of the registered drivers, sorted.
func (m *Manager) Registered() []string { return slices.Sorted(maps.Keys(m.drivers)) }

// OnChange registers f to be called whenever a driver is registered, replaced or unregistered. f
// must not yield.
func (m *Manager) OnChange(f func()) { m.onChange = append(m.onChange, f) }

func (m *Manager) changed() {
	for _, f := range m.onChange {
		f()
	}
}

// site describes one of the node's sockets for a call of the kubelet.
func (m *Manager) site(driver, socket string, deadline time.Duration) wire.Site {
	return wire.Site{
		Caller: "kubelet", Driver: driver, Node: m.kubelet.Node, Machine: m.machine, Socket: socket, Deadline: deadline,
	}
}

// errNotRegistered has the text of the real kubelet's error. K-RPC-10
func errNotRegistered(driver string) error {
	return fmt.Errorf("driver name %s not found in the list of registered CSI drivers", driver)
}
