package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An id that is too long is told of once, though every call about the volume has it.
func TestWhatIsTooBigIsReportedOnce(t *testing.T) {
	created := Violation{Field: "CreateVolumeResponse.volume.volume_id", Rule: tooBig, Detail: "has 140 bytes, the limit is 128"}
	published := Violation{Field: "NodePublishVolumeRequest.volume_id", Rule: tooBig, Detail: created.Detail}
	assert.True(t, published.Repeats(created))
	longer, other, empty := published, published, published
	longer.Detail = "has 150 bytes, the limit is 128"
	other.Field = "NodePublishVolumeRequest.node_id"
	empty.Rule = requiresIt
	for _, v := range []Violation{longer, other, empty} {
		assert.False(t, v.Repeats(created), v)
	}
}
