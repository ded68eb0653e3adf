package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim/store"
)

// K-VM-1, K-REG-1: what is on disk is taken up before anything else; drivers register
// later. Mounts are tried in between, and fail without any harm.
func TestVolumesAreFoundBeforeDriversRegister(t *testing.T) {
	n := mounted(t, setting{})
	mounts, files := n.mounts(), n.files()
	require.NoError(t, n.registrar.Stop())
	n.restart(nothing)
	assert.Equal(t, 1.0, n.kubelet.Metrics.Value("reconstruct_volume_operations_total"), "although nothing of it has run yet")
	assert.Empty(t, n.kubelet.Registered())
	n.pass(5 * time.Second)
	assert.Empty(t, n.probes())
	assert.Contains(t, n.events()[0], "not found in the list of registered CSI drivers")
	assert.Equal(t, mounts, n.mounts())
	assert.Equal(t, files, n.files())

	n.registrar.Start()
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
}

// K-RECON-7: a volume that was found on disk and is wanted still is not verified: it is
// staged and published anew, as soon as its attachment says that it is attached.
func TestAVolumeThatWasFoundOnDiskIsMountedAnew(t *testing.T) {
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
	assert.Contains(t, n.events()[0], `MountVolume.WaitForAttach failed for volume "pv-data"`)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// K-NODE-1, K-NODE-5: the CSINode of an earlier Node object is in the way, and the first
// attempt to initialise it fails. The node is ready as soon as the second one succeeds,
// not at the next round of its status.
func TestAStartedKubeletReportsAtOnceThatItsNodeIsReady(t *testing.T) {
	n := start(t, setting{})
	n.killKubelet()
	_, err := store.Delete[*corev1.Node](n.Store, store.Key{Name: nodeName})
	require.NoError(t, err)
	n.startKubelet()
	n.pass(10 * time.Millisecond)
	assert.Equal(t, corev1.ConditionFalse, n.ready())
	n.pass(100 * time.Millisecond)
	assert.Equal(t, corev1.ConditionTrue, n.ready())
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
