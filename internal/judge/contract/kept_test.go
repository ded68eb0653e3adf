package contract_test

import (
	"slices"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/judge/contract"
)

func TestTheKeptRulesOfACallAreTheCheckedOnesThatItDidNotBreak(t *testing.T) {
	request := &csi.NodeUnpublishVolumeRequest{VolumeId: "v", TargetPath: "relative"}
	kept := contract.KeptRules("Node/NodeUnpublishVolume", request, &csi.NodeUnpublishVolumeResponse{}, codes.OK, nil)
	assert.Contains(t, kept, contract.Kept{Field: "volume_id", Rule: "the CSI spec requires it"})
	assert.NotContains(t, kept, contract.Kept{Field: "target_path", Rule: "the CSI spec wants an absolute path"})
	request.TargetPath = "/absolute"
	kept = contract.KeptRules("Node/NodeUnpublishVolume", request, &csi.NodeUnpublishVolumeResponse{}, codes.OK, nil)
	assert.Contains(t, kept, contract.Kept{Field: "target_path", Rule: "the CSI spec wants an absolute path"})

	stage := &csi.NodeStageVolumeRequest{VolumeId: "v"}
	const only = "the CSI spec has the call only with the capability STAGE_UNSTAGE_VOLUME"
	for _, test := range []struct {
		caps *contract.Caps
		kept bool
	}{{nil, false}, {&contract.Caps{Node: contract.Set{}}, false}, {&contract.Caps{Node: contract.Set{"STAGE_UNSTAGE_VOLUME"}}, true}} {
		kept := contract.KeptRules("Node/NodeStageVolume", stage, nil, codes.Internal, test.caps)
		assert.Equal(t, test.kept, slices.Contains(kept, contract.Kept{Rule: only}))
		assert.Contains(t, kept, contract.Kept{Rule: "the CSI spec wants a canonical gRPC code"})
	}
	answered := contract.KeptRules("Node/NodeGetInfo", &csi.NodeGetInfoRequest{}, &csi.NodeGetInfoResponse{NodeId: "a"}, codes.OK, nil)
	assert.Contains(t, answered, contract.Kept{Field: "answer.node_id", Rule: "the CSI spec requires it"})
}
