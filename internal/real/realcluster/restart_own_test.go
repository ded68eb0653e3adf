package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/sim"
)

// Stopping a plugin without a pod is an error.
func TestStoppingAMissingPluginIsAnError(t *testing.T) {
	c, _ := withPods(t, podOf("other", "a", "csisim-proxy-node"))
	assert.ErrorContains(t, c.deletePods(sim.Plugin{Driver: "disk", Node: "node-of-a"}), "none runs")
}
