package sidecar_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/driver/sidecar"
)

// The last release before a change, the first one since, and the newest.
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
	} {
		assert.Equal(t, try.has, try.release.Has(try.change), "%s %s", try.release, try.change.What)
		assert.Empty(t, try.release.Check(try.change.Program), try.release)
	}
	assert.NotEmpty(t, sidecar.Release("7").Check("csi-attacher"))
}
