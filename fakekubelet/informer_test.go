package fakekubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// slowSync is a strategy. While it is true, the CSIDriver informer of a kubelet syncs as late as
// possible. All other choices are calm.
type slowSync bool

func (s *slowSync) Choose(c kernel.Choice) int {
	if strings.HasPrefix(c.Label, "sync of the late informer") && bool(*s) {
		return c.N - 1
	}
	return 0
}

func (*slowSync) String() string { return "slow sync" }

// K-VM-2, K-RACE-36: while the kubelet has listed its pods but cannot look up a CSIDriver, it
// neither mounts the volume of a new pod nor unmounts that of a deleted pod.
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

// breaking is a strategy. While it is true, watches break. All other choices are calm.
type breaking bool

func (b *breaking) Choose(c kernel.Choice) int {
	if c.Kind == kernel.Relist && bool(*b) {
		return c.N - 1
	}
	return 0
}

func (*breaking) String() string { return "breaking watches" }

// K-POD-5: a pod that was replaced unobserved by another pod with the same name is identified by
// its UID. The informer gets one changed pod, the kubelet two pods. The first pod's volumes are
// unmounted, and the second pod's volumes are mounted for it.
func TestAPodReplacedUnobservedIsAnother(t *testing.T) {
	var watches breaking
	n := start(t, setting{strategy: &watches})
	n.volume("data")
	first := n.pod("web", using("data"))
	n.waitRunning("web")
	n.forget()

	watches = true
	_, err := store.Delete[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: "web"}, store.GracePeriod(0))
	require.NoError(t, err)
	second := n.pod("web", using("data"))
	n.waitRunning("web")
	n.pass(time.Minute)
	of := map[types.UID][]string{}
	for _, e := range n.news() {
		target, ok := e.Request.(interface{ GetTargetPath() string })
		if !ok || e.Kind != trace.Call {
			continue
		}
		for _, uid := range []types.UID{first, second} {
			if strings.Contains(target.GetTargetPath(), string(uid)) {
				of[uid] = append(of[uid], e.Method)
			}
		}
	}
	assert.Equal(t, []string{"Node/NodeUnpublishVolume"}, of[first])
	assert.Equal(t, []string{"Node/NodePublishVolume"}, of[second])
}

// slowList is a strategy. While it is true, the lists of a kubelet take as long as possible. All
// other choices are calm.
type slowList bool

func (s *slowList) Choose(c kernel.Choice) int {
	if strings.HasPrefix(c.Label, "sync of informers of kubelet") && bool(*s) {
		return c.N - 1
	}
	return 0
}

func (*slowList) String() string { return "slow list" }

// K-DSW-1: a starting kubelet that has not listed its pods yet mounts no volume and unmounts none.
func TestAKubeletThatHasNotListedItsPodsUnmountsNothing(t *testing.T) {
	for _, slow := range []bool{false, true} {
		var strategy slowList
		n := start(t, setting{strategy: &strategy})
		n.volume("data")
		n.pod("web", using("data"))
		n.waitRunning("web")
		n.killKubelet()
		n.forget()
		strategy = slowList(slow)
		began := n.Kernel.Elapsed()
		n.startKubelet()
		n.until(n.kubelet.Up)
		assert.Equal(t, slow, n.Kernel.Elapsed()-began > podsListed, "%v", n.Kernel.Elapsed()-began)
		n.pass(time.Minute)
		for _, e := range n.news() {
			assert.NotEqual(t, "Node/NodeUnpublishVolume", e.Method)
			assert.NotEqual(t, "Node/NodeUnstageVolume", e.Method)
		}
	}
}
