package scenario

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim"
)

// The simulation uses the sidecars of a driver's own manifests, with their flags, and their
// CSIDriver object.
func TestTheSimulationTakesWhatADriversOwnManifestsSay(t *testing.T) {
	s, err := Load("../../csisim/testdata/own/scenario.yaml")
	require.NoError(t, err)
	o := s.Drivers[0].options("")
	assert.Equal(t, "mock.csi.csisim.dev", o.Name, "that of the CSIDriver object")
	assert.EqualValues(t, "File", *o.CSIDriver.FSGroupPolicy)
	assert.Equal(t, []sim.Sidecar{sim.Resizer, sim.Snapshotter, sim.HealthMonitor}, o.Without)
	assert.True(t, *o.Sidecars.Provisioner.ExtraCreateMetadata)
	assert.Equal(t, 15*time.Second, o.Sidecars.Attacher.Timeout)
	assert.Equal(t, []string{"csi-provisioner --feature-gates"}, s.Unsimulated())

	subject := s.Subject()
	cluster, err := sim.Start(subject.Options(t.Context()))
	require.NoError(t, err)
	defer cluster.Close()
	assert.Contains(t, cluster.Controllers(), "csi-provisioner/"+o.Name)
	assert.NotContains(t, cluster.Controllers(), "csi-resizer/"+o.Name)
	require.Len(t, subject.Own, 1)
	assert.Equal(t, []string{"csi-attacher", "csi-provisioner"}, subject.Own[0].Sidecars())
}
