package contract

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// CSI "Concurrency".
func TestTwoCallsAtOnceMountOnce(t *testing.T) {
	const publish = "Node/NodePublishVolume"
	assert.Empty(t, CheckOverlap(publish, nil, []string{"of /v at /staging", "of /v at /target"}))
	assert.Empty(t, CheckOverlap(publish, nil, nil), "neither call did anything")
	staged := []string{"of /v at /staging", "of /v at /staging"}
	assert.Empty(t, CheckOverlap(publish, staged, append(staged, "of /v at /target")), "an earlier call staged it twice")
	assert.NotEmpty(t, CheckOverlap(publish, staged[:1], staged), "the call staged it again")
	found := CheckOverlap(publish, nil, []string{"of /v at /target", "of /v at /target"})
	assert.Equal(t, "[NodePublishVolume has its effect twice when two calls overlap: 2 mounts of /v at /target]", fmt.Sprint(found))
}
