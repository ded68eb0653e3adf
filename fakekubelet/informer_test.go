package fakekubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// slowSync is a strategy under which the CSIDriver informer of a kubelet takes as long as
// it can to sync while it is true; all else is calm.
type slowSync bool

func (s *slowSync) Choose(c kernel.Choice) int {
	if strings.HasPrefix(c.Label, "sync of the late informer") && bool(*s) {
		return c.N - 1
	}
	return 0
}

func (*slowSync) String() string { return "slow sync" }

// K-VM-2, K-RACE-36: the kubelet knows its pods and cannot look up a CSIDriver: it neither
// mounts the volume of one pod nor unmounts that of another.
func TestNothingIsMountedOrUnmountedBeforeTheCSIDriverInformerHasSynced(t *testing.T) {
	const sync = 300*time.Millisecond + 1500*time.Millisecond
	for _, slow := range []bool{false, true} {
		var strategy slowSync
		n := start(t, setting{strategy: &strategy})
		n.volume("data")
		n.volume("more")
		n.pod("web", using("data"))
		n.waitRunning("web")
		n.killKubelet()
		_, err := store.Delete[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: "web"}, store.GracePeriod(0))
		require.NoError(t, err)
		n.pod("log", using("more"))
		n.forget()

		strategy = slowSync(slow)
		began := n.Kernel.Elapsed()
		n.startKubelet()
		n.pass(30 * time.Second)
		at := map[string]time.Duration{}
		for _, e := range n.news() {
			if _, known := at[e.Method]; !known && e.Kind == trace.Call {
				at[e.Method] = e.At - began
			}
		}
		for _, method := range []string{"Node/NodeUnpublishVolume", "Node/NodePublishVolume"} {
			require.Contains(t, at, method)
			assert.Equal(t, slow, at[method] >= sync, "%s at %v", method, at[method])
		}
	}
}
