package contract_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/contract"
)

func TestAViolationIsReadBackFromATrace(t *testing.T) {
	for _, v := range []contract.Violation{
		{Method: "Controller/CreateVolume", Field: "CreateVolumeResponse.volume.volume_id", Rule: "the CSI spec requires it", Detail: "is empty"},
		{Method: "Node/NodeStageVolume", Rule: "is not idempotent", Detail: "the second call answers Internal: no (2 mounts)"},
		{Method: "Node/NodeGetInfo", Field: "NodeGetInfoResponse.node_id", Rule: "at most 256 bytes", Detail: "has 300 bytes (a lot)"},
	} {
		assert.Equal(t, v, contract.Parse(v.Method, v.String()))
	}
}
