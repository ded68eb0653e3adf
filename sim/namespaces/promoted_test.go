package namespaces

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// On a real cluster drivers mount on its nodes: the tests stay where an engine is reached.
func TestTestsOfARealClusterStayWhereTheyAre(t *testing.T) {
	for _, args := range [][]string{{"-csisim.on=kind"}, {"-test.v", "--csisim.on=a/path@b"}, {"-csisim.on", "kind"}} {
		assert.True(t, promoted(args), args)
	}
	for _, args := range [][]string{nil, {"-csisim.on="}, {"-csisim.only=kind"}, {"csisim.on=kind"}} {
		assert.False(t, promoted(args), args)
	}
}
