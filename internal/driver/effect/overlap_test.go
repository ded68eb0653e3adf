package effect

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestTheSuccessfulOverlappingAnswerComesFirst(t *testing.T) {
	aborted := status.Error(codes.Aborted, "an operation is pending")
	yes := &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "a"}}
	assert.Less(t, rank(yes, nil), rank(nil, aborted))
	assert.Less(t, rank(yes, nil), rank(&csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "b"}}, nil))
}
