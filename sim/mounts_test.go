package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim"
)

// An administrator's mounts exist on one node only, an error names a mistake in them, and a loss of
// power ends them.
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
