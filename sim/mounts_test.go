package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim"
)

// Given mounts of an administrator on a node, then a second node has none, a mistake is an error
// that names it, and a loss of power ends the mounts.
func TestMountsOfAnAdministrator(t *testing.T) {
	c := sim.New(t).Simulation()
	require.NoError(t, c.Mount("node-a", "/srv/data", "/var/lib/kubelet/data"))

	var wrong *sim.ConfigError
	require.ErrorAs(t, c.Mount("node-x", "/srv/data", "/mnt"), &wrong)
	assert.ErrorAs(t, c.Unmount("node-b", "/var/lib/kubelet/data"), &wrong)
	require.NoError(t, c.Unmount("node-a", "/var/lib/kubelet/data"))
	assert.ErrorAs(t, c.Unmount("node-a", "/var/lib/kubelet/data"), &wrong)

	require.NoError(t, c.Mount("node-a", "/srv/data", "/mnt"))
	require.NoError(t, c.PowerOff("node-a"))
	assert.ErrorAs(t, c.Mount("node-a", "/srv/data", "/mnt"), &wrong, "it has no power")
	require.NoError(t, c.PowerOn("node-a"))
	assert.ErrorAs(t, c.Unmount("node-a", "/mnt"), &wrong)
}
