package feature_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/feature"
)

func TestGatesAreAsInKubernetesUnlessSwitched(t *testing.T) { // K-CFG-1
	assert.False(t, feature.Gates(nil).Enabled(feature.SELinuxMount))
	assert.True(t, feature.Gates{feature.SELinuxMount: true}.Enabled(feature.SELinuxMount))
	assert.NoError(t, feature.Gates{feature.CSIVolumeHealth: true, feature.SELinuxMount: false}.Validate())
	assert.EqualError(t, feature.Gates{"SelinuxMount": true}.Validate(),
		`there is no feature gate "SelinuxMount" that can be switched; there are CSIVolumeHealth, CrossNamespaceVolumeDataSource, SELinuxMount, VolumeLimitScaling`)
}

// K-CFG-2: a feature without a gate cannot be disabled, not even by one of its earlier names.
func TestFeaturesThatAreAlwaysOnHaveNoGate(t *testing.T) {
	for _, gate := range []feature.Gate{
		"CSIMigration", "CSIMigrationAWS", "CSIMigrationAzureDisk", "CSIMigrationAzureFile", "CSIMigrationGCE", "CSIMigrationPortworx",
		"CSIMigrationvSphere", "CSINodeExpandSecret", "DelegateFSGroupToCSIDriver", "ReadWriteOncePod", "NewVolumeManagerReconstruction",
	} {
		assert.ErrorContains(t, feature.Gates{gate: false}.Validate(), "that can be switched", gate)
	}
}
