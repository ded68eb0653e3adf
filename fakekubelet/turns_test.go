package fakekubelet_test

import (
	"slices"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// K-REC-5, K-RACE-22: two pods use one volume, and mounting fails for one of them. The backoff of
// its mount also delays the other pod, but only for some time.
func TestAPodThatCannotBeMountedDoesNotStarveAnother(t *testing.T) {
	for _, broken := range []int{0, 1} {
		n := start(t, setting{})
		n.volume("data")
		names := map[types.UID]string{n.pod("web", using("data")): "web", n.pod("log", using("data")): "log"}
		uids := []types.UID{n.uid("web"), n.uid("log")}
		slices.Sort(uids)
		in := csi.DefaultDir.PodDir(uids[broken]) + "/volumes"
		require.NoError(t, n.machine.MkdirAll(in, 0o750))
		// A file in place of a directory.
		require.NoError(t, n.machine.WriteFile(in+"/kubernetes.io~csi", nil, 0o644))
		n.pass(time.Minute)
		assert.Equal(t, "Running", string(n.phase(names[uids[1-broken]])))
		assert.Equal(t, "Pending", string(n.phase(names[uids[broken]])))
	}
}

// K-RACE-22: chance decides which pod of a volume is first.
func TestTheOrderOfPods(t *testing.T) {
	first := map[bool]bool{} // whether the pod with the lower UID was first
	for seed := range uint64(12) {
		n := start(t, setting{strategy: kernel.NewRandom(seed + 1)})
		n.volume("data")
		uids := []types.UID{n.pod("web", using("data")), n.pod("log", using("data"))}
		n.waitRunning("web")
		n.waitRunning("log")
		var targets []string
		for _, e := range n.news() {
			if r, ok := e.Request.(*csispec.NodePublishVolumeRequest); ok && e.Kind == trace.Call {
				targets = append(targets, r.TargetPath)
			}
		}
		first[targets[0] == csi.DefaultDir.TargetPath(slices.Min(uids), "pv-data")] = true
	}
	assert.Len(t, first, 2)
}
