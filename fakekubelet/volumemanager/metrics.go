package volumemanager

import (
	"time"

	"github.com/csisim/csisim/sim/operation"
	"github.com/csisim/csisim/sim/volume"
)

// driverOf is the driver of a volume that is wanted or held.
func (m *Manager) driverOf(name string) string {
	if v := m.actual.volumes[name]; v != nil {
		return v.spec.Driver()
	}
	if w := m.desired.volumes[name]; w != nil {
		for _, uid := range sortedKeys(w.pods) {
			return w.pods[uid].spec.Driver()
		}
	}
	return ""
}

// observeOperation counts an operation that has ended. K-MET-1
func (m *Manager) observeOperation(name, driver string, took time.Duration, err error) {
	operation.Observe(&m.kubelet.Metrics, name, driver, false, took, err)
}

// observeMount tells how long a pod has waited for a file system, from the time
// that it was first wanted. K-MET-2
func (m *Manager) observeMount(by *wantedBy) {
	m.kubelet.Metrics.Observe("volume_operation_total_seconds", operation.LatencyBounds, m.kubelet.Kernel.Elapsed()-by.since,
		"plugin_name", volume.MetricsName(by.spec.Driver()), "operation_name", "overall_volume_mount")
}

// collect tells how many volumes of each driver pods want and have mounted. K-MET-5
func (m *Manager) collect(set func(name string, value float64, labels ...string)) {
	wants, has := map[string]int{}, map[string]int{}
	// Pods are counted in any order.
	for _, w := range m.desired.volumes {
		// Pods are counted in any order.
		for _, by := range w.pods {
			wants[by.spec.Driver()]++
		}
	}
	// Pods are counted in any order.
	for _, v := range m.actual.volumes {
		// Pods are counted in any order.
		for _, by := range v.pods {
			if by.state == mounted {
				has[by.spec.Driver()]++
			}
		}
	}
	tell := func(counts map[string]int, state string) {
		for _, driver := range sortedKeys(counts) {
			set("volume_manager_total_volumes", float64(counts[driver]), "plugin_name", volume.MetricsName(driver), "state", state)
		}
	}
	tell(wants, "desired_state_of_world")
	tell(has, "actual_state_of_world")
}
