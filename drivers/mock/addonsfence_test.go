package mock

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/fence"
)

// Another defect does not change the answer of an unimplemented call.
func TestUnimplementedFencingHidesNoOtherDefect(t *testing.T) {
	for _, o := range []Options{
		{Faulty: []string{messageShowsSecret, promisesFencing}, CSIAddons: &Addons{}},
		{Faulty: []string{messageShowsSecret}, CSIAddons: &Addons{Controller: []string{"reclaim_space.OFFLINE"}}},
	} {
		server := AddonsFence{AddonsIdentity: newWorld(o).d.AddonsOfController()}
		_, err := server.FenceClusterNetwork(t.Context(), &fence.FenceClusterNetworkRequest{Secrets: map[string]string{"password": "correct-horse"}})
		assert.Equal(t, codes.Unimplemented, status.Code(err))
	}
}
