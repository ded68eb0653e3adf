package deploy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/real/deploy"
)

// Feature gates of sidecars are options like flags, in both directions.
func TestFeatureGatesAreOptions(t *testing.T) {
	var o fakecontroller.ProvisionerOptions
	unknown, err := deploy.SetFlags(&o, map[string]string{"--feature-gates": "HonorPVReclaimPolicy=false,VolumeAttributesClass=true"})
	require.NoError(t, err)
	assert.Empty(t, unknown)
	assert.Equal(t, []bool{false, true}, []bool{*o.HonorPVReclaimPolicy, *o.VolumeAttributesClass})
	assert.Equal(t, []string{"--feature-gates=HonorPVReclaimPolicy=false,VolumeAttributesClass=true"}, deploy.Flags(o))

	unknown, err = deploy.SetFlags(&o, map[string]string{"--feature-gates": "Topology=false"})
	require.NoError(t, err)
	assert.Equal(t, []string{"--feature-gates"}, unknown, "a gate without an option")

	_, err = deploy.SetFlags(&o, map[string]string{"--feature-gates": "VolumeAttributesClass=maybe"})
	assert.ErrorContains(t, err, "--feature-gates=VolumeAttributesClass=maybe: ")
}
