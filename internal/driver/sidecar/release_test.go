package sidecar_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/driver/sidecar"
)

// The last release before a change, the first release with the change, and the newest release.
func TestAReleaseHasTheChangesUpToIt(t *testing.T) {
	for _, try := range []struct {
		release sidecar.Release
		change  sidecar.Change
		has     bool
	}{
		{"4.9", sidecar.AttachErrorCode, false}, {"4.10", sidecar.AttachErrorCode, true}, {"", sidecar.AttachErrorCode, true},
		{"4.7", sidecar.DetachedLast, false}, {"4.8", sidecar.DetachedLast, true},
		{"5.3", sidecar.InfeasibleClaims, false}, {"6.0", sidecar.InfeasibleClaims, true},
		{"6.1", sidecar.ProtectedSnapshots, false}, {"6.2", sidecar.ProtectedSnapshots, true},
		{"1.14", sidecar.NoNodeExpansion, false}, {"2.0", sidecar.NoNodeExpansion, true},
		{"7.0", sidecar.IgnoresOwnWrites, false}, {"8.0", sidecar.IgnoresOwnWrites, true},
	} {
		assert.Equal(t, try.has, try.release.Has(try.change), "%s %s", try.release, try.change.What)
		assert.Empty(t, try.release.Check(try.change.Program), try.release)
	}
	assert.NotEmpty(t, sidecar.Release("7").Check("csi-attacher"))
}

// The tag of an image names a release with known behaviour, an older one, or the newest.
func TestTheTagOfAnImageNamesARelease(t *testing.T) {
	for _, try := range []struct {
		program, tag string
		release      sidecar.Release
		known        bool
	}{
		{"csi-attacher", "v4.7.1", "4.7", true}, {"csi-attacher", "v4.13.0", "", true}, {"csi-attacher", "v9.0.0", "", true},
		{"csi-attacher", "canary", "", true}, {"csi-attacher", "", "", true}, {"csi-attacher", "v3.5.0", "3.5", false},
		{"csi-snapshotter", "v6.3.4", "6.3", true}, {"csi-external-health-monitor-controller", "v0.1.0", "", true},
	} {
		release, known := sidecar.OfImage(try.program, try.tag)
		assert.Equal(t, try.release, release, try.tag)
		assert.Equal(t, try.known, known, try.tag)
	}
}
