package fakekubelet_test

import (
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/store"
)

// K-DSW-1, K-REC-3: a starting kubelet has listed its pods after a second and processes them within
// a further tenth. Before that it neither mounts nor unmounts anything.
func TestTheFirstPassOverThePods(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.volume("more")
	n.pod("web", using("data"))
	n.pod("log", using("more"))
	n.run("log")
	n.restart(func() { n.forceDelete("log") })
	n.pass(podsListed - time.Millisecond)
	assert.Empty(t, n.calls())
	n.settle()
	for _, method := range []string{"NodeUnpublishVolume", "NodeStageVolume"} {
		require.NotEmpty(t, n.times(method))
		assert.GreaterOrEqual(t, n.times(method)[0], podsListed, method)
		assert.LessOrEqual(t, n.times(method)[0], podsListed+100*time.Millisecond, method)
	}
}

// K-DSW-4, K-DSW-10: a processed pod is processed again only at its next regular sync, so a change
// of its volume takes effect a minute later.
func TestAPodsVolumesAreLookedUpAtItsSyncs(t *testing.T) {
	n := start(t, setting{csiDriver: republish})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.pass(5 * time.Second)
	_, err := store.Modify(n.Store, store.Key{Name: "pv-data"}, func(pv *corev1.PersistentVolume) { pv.Spec.MountOptions = []string{"noatime"} })
	require.NoError(t, err)
	flags := func() []string {
		return request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().GetMountFlags()
	}
	n.forget()
	n.pass(50 * time.Second)
	assert.Empty(t, n.calls())
	assert.Empty(t, flags())
	n.pass(10 * time.Second)
	assert.Equal(t, []string{"noatime"}, flags())
}

// K-DSW-13: when a pod's containers have stopped, its volumes are no longer desired. A volume that
// was never mounted stays desired as long as the pod's object exists.
func TestTheVolumesOfAFinishedPod(t *testing.T) {
	for _, c := range []struct {
		name     string
		attached bool
		whilePod []corev1.UniqueVolumeName
	}{
		{"mounted", true, nil},
		{"never mounted", false, []corev1.UniqueVolumeName{unique("data")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			n.volume("data")
			if c.attached {
				n.attached("data")
			}
			n.pod("web", using("data"))
			_, err := store.Modify(n.Store, podKey("web"), func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/wait"} })
			require.NoError(t, err)
			n.pass(15 * time.Second)
			require.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse())
			n.deletePod("web")
			n.pass(15 * time.Second)
			assert.Equal(t, c.whilePod, n.inUse())
			_, err = store.Modify(n.Store, podKey("web"), func(pod *corev1.Pod) { pod.Finalizers = nil })
			require.NoError(t, err)
			n.pass(15 * time.Second)
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
			assert.Empty(t, n.inUse())
		})
	}
}

// K-DSW-13, K-ORPH-1, l02: a deleted pod leaves its directory, and a volume that may be staged, to
// the passes that follow its deletion, even if other passes are due at the same time.
func TestADeletedPodLeavesItsFilesToTheNextPasses(t *testing.T) {
	// After one of these pauses, the housekeeping is due at the deletion.
	for _, later := range []time.Duration{0, time.Second} {
		n := start(t, setting{})
		n.volume("data")
		n.fail("NodeStageVolume", codes.DeadlineExceeded, 0)
		n.pod("web", using("data"))
		n.thirdRetry()
		n.pass(later)
		dir := csi.DefaultDir.PodDir(n.uid("web"))
		n.forget()
		n.deletePod("web")
		n.until(func() bool { return n.phase("web") == "gone" })
		n.pass(time.Millisecond)
		assert.NotContains(t, n.calls(), "NodeUnstageVolume OK")
		assert.True(t, n.exists(dir))
		n.pass(200 * time.Millisecond)
		assert.Contains(t, n.calls(), "NodeUnstageVolume OK")
		assert.True(t, n.exists(dir))
		n.pass(2 * time.Second)
		assert.False(t, n.exists(dir))
	}
}

// K-RACE-18: the errors of a pod's volumes are returned to the first wait that checks them. An old
// error, from before the end of the pod, ends the wait for its volumes to be unmounted. The wait is
// retried ten seconds later.
func TestARemainingErrorEndsTheWaitForTheUnmount(t *testing.T) {
	for _, c := range []struct {
		name string
		over time.Duration // after the pod's second sync began, when its containers end
		gone float64       // seconds until its directory is removed
	}{
		{"the sync has the deletion", 9 * time.Second, 2},
		{"the deletion is not observed yet", 150 * time.Millisecond, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			// The populator's passes are between the checks of the pod's worker.
			n.pass(30 * time.Millisecond)
			uid := n.pod("web", using("data"), using("nowhere"))
			n.until(func() bool { return len(n.events()) == 1 })
			n.pass(10*time.Second + c.over)
			require.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
			n.setPhase("web", corev1.PodFailed)
			n.deletePod("web")
			n.forget()
			n.until(func() bool { return !n.exists(csi.DefaultDir.PodDir(uid)) })
			assert.InDelta(t, c.gone, (n.Kernel.Elapsed() - n.since.At).Seconds(), 2)
			assert.LessOrEqual(t, n.times("NodeUnpublishVolume")[0], time.Second, "the volume itself does not wait")
		})
	}
}
