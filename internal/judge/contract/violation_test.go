package contract

import (
	"testing"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/stretchr/testify/assert"
)

// Given an id that is too long, when every call about the volume contains it, then it is reported
// once.
func TestALargeVolumeIsReportedOnce(t *testing.T) {
	created := verdict.Verdict{Field: "CreateVolumeResponse.volume.volume_id", Form: tooBig, Found: []string{"has 140 bytes, the limit is 128"}}
	published := verdict.Verdict{Field: "NodePublishVolumeRequest.volume_id", Form: tooBig, Found: created.Found}
	assert.True(t, Repeats(published, created))
	longer, other, empty := published, published, published
	longer.Found = []string{"has 150 bytes, the limit is 128"}
	other.Field = "NodePublishVolumeRequest.node_id"
	empty.Form = RequiresIt
	for _, v := range []verdict.Verdict{longer, other, empty} {
		assert.False(t, Repeats(v, created), v)
	}
}
