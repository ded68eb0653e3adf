package version_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/version"
)

func TestKnownVersionsAreReadUnchanged(t *testing.T) {
	for _, v := range version.All() {
		read, err := version.Parse(v.String())
		require.NoError(t, err)
		assert.Equal(t, v, read)
	}
	assert.Equal(t, "1.36", version.Version(0).String(), "the newest is the default")
	assert.Equal(t, "v1.36.3", version.Newest.Release())
	assert.Equal(t, "v1.24.0", version.Version(24).Release())
}

func TestAnUnknownVersionIsRefusedWithAListOfTheKnown(t *testing.T) {
	for _, text := range []string{"", "1.12", "1.37", "2.24", "1.024", "v1.24", "1.24.3", "latest"} {
		_, err := version.Parse(text)
		assert.ErrorContains(t, err, "known are 1.13, 1.14, ", text)
		assert.ErrorContains(t, err, ", 1.36", text)
	}
}

// Version skew policy: a kubelet is never newer than the API server. It is at most three minor
// versions older, and before v1.25 at most two.
func TestWhichKubeletsWorkWithAControlPlane(t *testing.T) {
	for _, tt := range []struct {
		kubelet, controlPlane version.Version
		refused               string
	}{
		{36, 36, ""},
		{33, 36, ""},
		{32, 36, "is 4 minor versions older than the control plane (1.36), Kubernetes supports 3"},
		{25, 28, ""},
		{24, 26, ""},
		{24, 27, "is 3 minor versions older than the control plane (1.27), Kubernetes supports 2"},
		{24, 23, "is newer than the control plane (1.23)"},
		{33, 0, ""},
	} {
		err := version.CheckSkew(tt.kubelet, tt.controlPlane)
		if tt.refused == "" {
			assert.NoError(t, err, "%v", tt)
		} else {
			assert.ErrorContains(t, err, tt.refused)
		}
	}
}

func TestAControlPlaneGoesOneVersionAtATime(t *testing.T) {
	assert.NoError(t, version.CheckUpgrade(23, 24))
	assert.NoError(t, version.CheckUpgrade(23, 23))
	assert.ErrorContains(t, version.CheckUpgrade(23, 25), "upgrade to 1.24 first")
	assert.ErrorContains(t, version.CheckUpgrade(24, 23), "cannot go back to 1.23")
}

func TestAChangeHoldsSinceItsVersion(t *testing.T) {
	for _, e := range version.Changes() {
		assert.True(t, e.Since.Has(e.Change), e.Change)
		assert.True(t, version.Newest.Has(e.Change), e.Change)
		assert.True(t, version.Version(0).Has(e.Change), e.Change)
		assert.False(t, e.Change.Before().Has(e.Change), e.Change)
		assert.NotEmpty(t, e.Source, e.Change)
	}
}
