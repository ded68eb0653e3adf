package contract

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// CSI "Concurrency".
func TestTwoCallsAtOnceMountOnce(t *testing.T) {
	const publish = "Node/NodePublishVolume"
	assert.Empty(t, CheckOverlap(publish, []string{"of /v at /staging", "of /v at /target"}))
	assert.Empty(t, CheckOverlap(publish, nil), "neither call did anything")
	found := CheckOverlap(publish, []string{"of /v at /target", "of /v at /target"})
	assert.Equal(t, "[NodePublishVolume has its effect twice when two calls overlap: 2 mounts of /v at /target]", fmt.Sprint(found))
}
