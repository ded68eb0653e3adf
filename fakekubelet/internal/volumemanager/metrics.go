package volumemanager

import (
	"time"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/volume"
)

// observeOperation counts a finished operation. spec is nil if only a directory of its volume is
// known. After a restart it is unknown whether a volume belongs to an in-tree plugin, until the
// volume is mounted. K-MET-1, K-MIG-2
func (m *Manager) observeOperation(name string, spec *csi.Spec, took time.Duration, err error) {
	plugin, migrated := volume.Plugin, false
	if spec != nil {
		plugin, migrated = volume.MetricsName(spec.Driver()), spec.Migrated
	}
	operation.Observe(&m.kubelet.Metrics, name, plugin, migrated, took, err)
}

// observeMount measures how long a pod has waited for a file system since it first needed it.
// K-MET-2
func (m *Manager) observeMount(by *wantedBy) {
	m.kubelet.Metrics.Observe("volume_operation_total_seconds", operation.LatencyBounds, m.kubelet.Kernel.Elapsed()-by.since,
		"plugin_name", volume.MetricsName(by.spec.Driver()), "operation_name", "overall_volume_mount")
}

// collect reports how many volumes of each driver pods need, and how many are mounted. K-MET-5
func (m *Manager) collect(set func(name string, value float64, labels ...string)) {
	wants, has := map[string]int{}, map[string]int{}
	// Pods are counted in any order.
	for _, w := range m.desired.volumes {
		for _, by := range w.pods {
			wants[by.Value.spec.Driver()]++
		}
	}
	// Pods are counted in any order.
	for _, v := range m.actual.volumes {
		for _, by := range v.pods {
			if by.Value.state == mounted {
				has[by.Value.spec.Driver()]++
			}
		}
	}
	setCounts := func(counts map[string]int, state string) {
		for _, driver := range sortedKeys(counts) {
			set("volume_manager_total_volumes", float64(counts[driver]), "plugin_name", volume.MetricsName(driver), "state", state)
		}
	}
	setCounts(wants, "desired_state_of_world")
	setCounts(has, "actual_state_of_world")
}
