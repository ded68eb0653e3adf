package feature_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/sim/feature"
)

func TestGatesAreAsInKubernetesUnlessSwitched(t *testing.T) { // K-CFG-1
	assert.False(t, feature.Gates(nil).Enabled(feature.SELinuxMount))
	assert.True(t, feature.Gates{feature.SELinuxMount: true}.Enabled(feature.SELinuxMount))
	assert.NoError(t, feature.Gates{feature.CSIVolumeHealth: true, feature.SELinuxMount: false}.Validate())
	assert.EqualError(t, feature.Gates{"SelinuxMount": true}.Validate(),
		`there is no feature gate "SelinuxMount" that can be switched; there are CSIVolumeHealth, SELinuxMount, VolumeLimitScaling`)
}
