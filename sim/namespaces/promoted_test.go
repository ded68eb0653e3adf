package namespaces

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Drivers mount on the nodes of the real cluster, so the tests stay in the namespaces that reach
// its container engine.
func TestTestsOfARealClusterStayInTheirNamespaces(t *testing.T) {
	for _, args := range [][]string{{"-csisim.on=kind"}, {"-test.v", "--csisim.on=a/path@b"}, {"-csisim.on", "kind"}} {
		assert.True(t, promoted(args), args)
	}
	for _, args := range [][]string{nil, {"-csisim.on="}, {"-csisim.only=kind"}, {"csisim.on=kind"}} {
		assert.False(t, promoted(args), args)
	}
}
