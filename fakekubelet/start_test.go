package fakekubelet_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// K-VM-1, K-REG-1: the volumes on disk are entered first; drivers register later. Mounts are tried
// meanwhile, and fail without harm.
func TestVolumesAreFoundBeforeDriversRegister(t *testing.T) {
	n := mounted(t, setting{})
	mounts, files := n.mounts(), n.files()
	require.NoError(t, n.registrar.Stop())
	n.restart(nothing)
	n.pass(podsListed - time.Millisecond)
	assert.Equal(t, 1.0, n.kubelet.Metrics.Value("reconstruct_volume_operations_total"), "although it does not know its pods yet")
	assert.Empty(t, n.kubelet.Registered())
	n.pass(5 * time.Second)
	assert.Empty(t, n.probes())
	assert.Contains(t, n.warnings()[0], "not found in the list of registered CSI drivers")
	assert.Equal(t, mounts, n.mounts())
	assert.Equal(t, files, n.files())

	n.registrar.Start()
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
}

// K-RECON-7: a volume that was found on disk and is still needed is not verified. It is staged and
// published again, as soon as its VolumeAttachment has attached: true.
func TestAVolumeFoundOnDiskIsMountedAgain(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.run("web")
	n.restart(nothing)
	n.pass(2 * time.Second)
	assert.Equal(t, []string{"cap", "cap", "cap", "NodeStageVolume OK", "cap", "cap", "cap", "NodePublishVolume OK"}, n.probes())
	assert.Zero(t, n.operations("verify_controller_attached_volume", "success"))
	assert.Equal(t, 1.0, n.operations("volume_mount", "success"))

	n.restart(n.detached)
	n.pass(2 * time.Second)
	assert.Empty(t, n.probes())
	assert.Contains(t, n.warnings()[0], `MountVolume.WaitForAttach failed for volume "pv-data"`)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// K-NODE-1, K-NODE-3, K-NODE-5: a kubelet looks for its Node object before creating it. A third of
// a second later it finds the CSINode of an earlier Node. The node becomes ready as soon as the
// second attempt succeeds, without waiting for the next status round.
func TestAStartedKubeletReportsAtOnceThatItsNodeIsReady(t *testing.T) {
	n := start(t, setting{})
	n.killKubelet()
	_, err := store.Delete[*corev1.Node](n.Store, store.Key{Name: nodeName})
	require.NoError(t, err)
	n.startKubelet()
	n.pass(firstStatus + 210*time.Millisecond)
	assert.Equal(t, corev1.ConditionFalse, n.ready())
	n.pass(100 * time.Millisecond)
	assert.Equal(t, corev1.ConditionTrue, n.ready())
	assert.Contains(t, n.events(), "Normal NodeReady: Node node-a status is now: NodeReady (1)")
}

func (n *node) ready() corev1.ConditionStatus {
	n.t.Helper()
	node, ok := store.Get[*corev1.Node](n.Store, store.Key{Name: nodeName})
	require.True(n.t, ok)
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

// K-NODE-6, K-REG-1, trace ff1: on a node without a Node object a driver is called before its Node
// exists. A third of a second later the write of the Node succeeds, then the write of the CSINode.
func TestADriverIsPublishedAsSoonAsItsNodeExists(t *testing.T) {
	n := start(t, setting{})
	n.killKubelet()
	_, err := store.Delete[*corev1.Node](n.Store, store.Key{Name: nodeName})
	require.NoError(t, err)
	_, err = store.Delete[*storagev1.CSINode](n.Store, store.Key{Name: nodeName})
	require.NoError(t, err)
	n.forget()
	n.startKubelet()
	n.pass(time.Second)
	assert.Equal(t, []string{"330ms NodeGetInfo", "400ms ADDED nodes", "610ms ADDED csinodes", "640ms MODIFIED nodes", "640ms MODIFIED csinodes", "700ms MODIFIED nodes"}, n.registrations())
}

// The first check of the runtime takes a variable time. Under some seeds the Node exists before the
// call to the driver.
func TestANodeMayExistBeforeItsDriverIsCalled(t *testing.T) {
	first := map[string]bool{}
	for seed := uint64(1); seed <= 20; seed++ {
		n := start(t, setting{strategy: kernel.NewRandom(seed)})
		n.since = n.Trace.Events()[0]
		_, what, _ := strings.Cut(n.registrations()[0], " ")
		first[what] = true
	}
	assert.Equal(t, map[string]bool{"NodeGetInfo": true, "ADDED nodes": true}, first)
}

// registrations returns the calls and writes that register a node and its driver, each with its
// time.
func (n *node) registrations() (lines []string) {
	for _, e := range n.news() {
		what := path.Base(e.Method)
		if e.Kind == trace.API && (e.Resource == "nodes" || e.Resource == "csinodes") {
			what = e.Change + " " + e.Resource
		} else if what != "NodeGetInfo" {
			continue
		}
		lines = append(lines, fmt.Sprintf("%v %s", e.At-n.since.At, what))
	}
	return lines
}
