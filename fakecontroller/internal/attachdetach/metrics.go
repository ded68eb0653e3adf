package attachdetach

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// forcedDetaches counts detaches of volumes that a node may still use. C-ADC-29
const forcedDetaches = "attach_detach_controller_attachdetach_controller_forced_detaches"

// collect sets the numbers of volumes that pods use on each node, and of desired and attached
// volumes. C-ADC-29
func (c *Controller) collect(set func(name string, value float64, labels ...string)) {
	used := counts{}
	for pod := range store.List[*corev1.Pod](c.Cache, "") {
		if pod.Spec.NodeName == "" {
			continue
		}
		specs, _ := c.volumesOf(pod)
		for _, s := range specs {
			used.add(pod.Spec.NodeName, s)
		}
	}
	total := counts{}
	// In any order: volumes are counted.
	for _, volumes := range c.desired.nodes {
		// In any order: volumes are counted.
		for _, wanted := range volumes {
			total.add("desired_state_of_world", wanted.spec)
		}
	}
	// In any order: volumes are counted.
	for _, v := range c.actual.volumes {
		for range v.nodes {
			total.add("actual_state_of_world", v.spec)
		}
	}
	used.each(func(node, plugin string, n float64) {
		set("storage_count_attachable_volumes_in_use", n, "node", node, "volume_plugin", plugin)
	})
	total.each(func(state, plugin string, n float64) {
		set("attachdetach_controller_total_volumes", n, "plugin_name", plugin, "state", state)
	})
}

// observe counts an operation that has ended. For a volume with only a known name, even the driver
// is unknown. C-OP-1
func (c *Controller) observe(name string, s *spec, took time.Duration, err error) {
	driver, migrated := "", false
	if s != nil {
		driver, migrated = s.driver, s.plugin != ""
	}
	operation.Observe(&c.Metrics, name, volume.MetricsName(driver), migrated, took, err)
}

// counts are numbers of volumes by node or state, and plugin.
type counts map[string]map[string]float64

// add counts a volume, unless only its name is known.
func (c counts) add(by string, s *spec) {
	if s == nil {
		return
	}
	if c[by] == nil {
		c[by] = map[string]float64{}
	}
	c[by][volume.MetricsName(s.driver)]++
}

func (c counts) each(set func(by, plugin string, n float64)) {
	for _, by := range slices.Sorted(maps.Keys(c)) {
		for _, plugin := range slices.Sorted(maps.Keys(c[by])) {
			set(by, plugin, c[by][plugin])
		}
	}
}
