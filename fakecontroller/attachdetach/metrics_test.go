package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// C-ADC-29
//
// conformance: adc-metrics
func TestMetricsTellWhatIsWantedAttachedAndUsed(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.node("node-b")
	c.volume("v", corev1.ReadWriteMany)
	c.volume("w")
	c.attacher()
	ctl := Start(c.world, Options{})
	assert.Empty(t, ctl.Metrics.Lines())
	c.pod("p", "node-a", "v")
	c.pod("q", "node-a", "w")
	c.pod("r", "node-b", "v")
	c.at(2 * time.Second)
	c.uses("node-b", "v")
	c.deletePod("r")
	c.at(3 * time.Second)
	const plugin = `"kubernetes.io/csi:disk.csi.example.com"`
	assert.Equal(t, []string{
		`attachdetach_controller_total_volumes{plugin_name=` + plugin + `,state="actual_state_of_world"} 3`,
		`attachdetach_controller_total_volumes{plugin_name=` + plugin + `,state="desired_state_of_world"} 2`,
		`storage_count_attachable_volumes_in_use{node="node-a",volume_plugin=` + plugin + `} 2`,
	}, ctl.Metrics.Lines())
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
			ctl := Start(c.world, Options{})
			c.pod("p", "node-a", "v")
			c.at(time.Second)
			c.uses("node-a", "v")
			lose(c)
			c.deletePod("p")
			c.at(10 * time.Minute)
			assert.Nil(t, c.attachment("v", "node-a"))
			assert.Equal(t, 1.0, ctl.Metrics.Value(forcedDetaches, "reason", reason))
		})
	}
}
