package operation

import (
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/world/metric"
)

// LatencyBounds are the bounds of all histograms of operations and driver calls, in seconds.
// K-MET-4
var LatencyBounds = []float64{.1, .25, .5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600}

// Observe counts a finished operation. plugin is the plugin of its volume (volume.MetricsName).
// migrated means that it is a migrated in-tree plugin. K-MET-1, C-OP-1
func Observe(m *metric.Registry, name, plugin string, migrated bool, took time.Duration, err error) {
	outcome := "success"
	if err != nil {
		outcome = "fail-unknown"
	}
	m.Observe("storage_operation_duration_seconds", LatencyBounds, took,
		"volume_plugin", plugin, "operation_name", name, "status", outcome, "migrated", strconv.FormatBool(migrated))
}
