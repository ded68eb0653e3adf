package attachdetach

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// C-ADC-29
//
// conformance: adc-metrics
func TestMetricsCountDesiredAttachedAndUsedVolumes(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.node("node-b")
	c.volume("v", corev1.ReadWriteMany)
	c.volume("w")
	c.attacher()
	ctl := Start(c.World, Options{})
	assert.Empty(t, ctl.Metrics.Lines())
	c.pod("p", "node-a", "v")
	c.pod("q", "node-a", "w")
	c.pod("r", "node-b", "v")
	c.At(2 * time.Second)
	c.uses("node-b", "v")
	c.deletePod("r")
	c.At(3 * time.Second)
	const plugin = `"kubernetes.io/csi:disk.csi.example.com"`
	gauges := slices.DeleteFunc(ctl.Metrics.Lines(), func(line string) bool { return strings.HasPrefix(line, "storage_operation") })
	assert.Equal(t, []string{
		`attachdetach_controller_total_volumes{plugin_name=` + plugin + `,state="actual_state_of_world"} 3`,
		`attachdetach_controller_total_volumes{plugin_name=` + plugin + `,state="desired_state_of_world"} 2`,
		`storage_count_attachable_volumes_in_use{node="node-a",volume_plugin=` + plugin + `} 2`,
	}, gauges)
}

// C-OP-1: operations are counted under their names. If no pod needs a volume when the controller
// starts, only the volume's name is known, and therefore only its plugin. C-OP-6
func TestOperationsAreCounted(t *testing.T) {
	c, ctl := restartable(t)
	count := func(operation, plugin, outcome string) float64 {
		return ctl.Metrics.Value("storage_operation_duration_seconds",
			"volume_plugin", plugin, "operation_name", operation, "status", outcome, "migrated", "false")
	}
	c.At(2 * time.Second)
	assert.Equal(t, 1.0, count("volume_attach", "kubernetes.io/csi:disk.csi.example.com", "success"))
	assert.Contains(t, ctl.Metrics.Lines(), `storage_operation_duration_seconds_sum{volume_plugin="kubernetes.io/csi:disk.csi.example.com",operation_name="volume_attach",status="success",migrated="false"} 0.5`)
	c.uses("node-a")
	ctl.Crash()
	c.deletePod("p")
	ctl = Start(c.World, Options{})
	c.At(4 * time.Second)
	require.Nil(t, c.attachment("v", "node-a"))
	assert.Equal(t, 1.0, count("volume_detach", "kubernetes.io/csi", "success"))

	c = newCluster(t)
	c.node("node-a")
	c.volume("v")
	ctl = Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(125 * time.Second) // no attacher runs
	assert.Equal(t, 1.0, count("volume_attach", "kubernetes.io/csi:disk.csi.example.com", "fail-unknown"))
}

// C-ADC-29: for either reason.
func TestForcedDetachesAreCounted(t *testing.T) {
	for reason, lose := range map[string]func(*cluster){
		"timeout": func(c *cluster) { c.silent("node-a") },
		"out-of-service": func(c *cluster) {
			c.changeNode("node-a", func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			c := newCluster(t)
			c.node("node-a")
			c.volume("v")
			c.attacher()
			ctl := Start(c.World, Options{})
			c.pod("p", "node-a", "v")
			c.At(time.Second)
			c.uses("node-a", "v")
			lose(c)
			c.deletePod("p")
			c.At(10 * time.Minute)
			assert.Nil(t, c.attachment("v", "node-a"))
			assert.Equal(t, 1.0, ctl.Metrics.Value(forcedDetaches, "reason", reason))
		})
	}
}
