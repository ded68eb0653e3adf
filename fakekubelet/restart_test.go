package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/store"
)

// restart kills the kubelet, executes a function while it is down, and starts it again.
func (n *node) restart(meanwhile func()) {
	n.killKubelet()
	n.pass(time.Second)
	meanwhile()
	n.forget()
	n.startKubelet()
}

func nothing() {}

// conformance: unit-reconstructed-volume-mounts, suite-restart-data-readable-fs,
// suite-restart-data-readable-block, unit-populate-after-start-first-pass-active
// K-RECON-1, K-RECON-2, K-RECON-4, K-RECON-7, fact 21.
func TestVolumesInUseAreStagedAndPublishedAgain(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: podInfo})
	n.volume("data")
	n.volume("more", block)
	n.pod("web", using("data"))
	n.pod("db", usingDevice("more"))
	n.pod("log", inline("scratch"))
	n.settle()
	mounts, files := n.mounts(), n.files()

	n.restart(nothing)
	n.settle()
	assert.ElementsMatch(t, []string{
		"NodeStageVolume OK", "NodePublishVolume OK", "NodeStageVolume OK", "NodePublishVolume OK", "NodePublishVolume OK",
	}, n.calls())
	assert.Equal(t, mounts, n.mounts())
	assert.Equal(t, files, n.files())
	assert.Empty(t, n.wire.Violations())

	n.forget()
	for _, pod := range []string{"web", "db", "log"} {
		n.deletePod(pod)
	}
	n.settle()
	assert.Len(t, n.calls(), 5)
	assert.Empty(t, n.mounts())
	assert.Empty(t, n.files())
}

// K-RECON-8, K-ORPH-2, facts 21 and 60.
func TestVolumesOfDeletedPodsAreCleanedUpFromDisk(t *testing.T) {
	for name, c := range map[string]struct {
		pv  []func(*corev1.PersistentVolume)
		pod func(*corev1.PodSpec)
		inl bool
	}{
		"filesystem": {nil, using("data"), false},
		"block":      {[]func(*corev1.PersistentVolume){block}, usingDevice("data"), false},
		"inline":     {nil, inline("scratch"), true},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: podInfo})
			n.volume("data", c.pv...)
			n.pod("web", c.pod)
			n.run("web")
			n.restart(func() { n.forceDelete("web") })
			n.settle()
			want := []string{"NodeUnpublishVolume OK"}
			if !c.inl {
				want = append(want, "NodeUnstageVolume OK")
			}
			assert.Equal(t, want, n.calls())
			assert.LessOrEqual(t, n.times("NodeUnpublishVolume")[0], 2*time.Second)
			assert.Contains(t, n.story(), "StopPodSandbox", "K-POD-8: unknown containers are stopped")
			assert.Empty(t, n.mounts())
			assert.Empty(t, n.files())
		})
	}
}

func TestARestartWithOnePodLeftAndOneDeleted(t *testing.T) { // K-TRACE-10, K-RECON-10
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.pod("log", using("data"))
	n.settle()
	n.restart(func() { n.forceDelete("log") })
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// K-RECON-9, K-ERR-1, K-ERR-2, K-ERR-3: while a volume is only reconstructed, a final error does
// not remove the volume or its state.
func TestAFinalErrorAfterARestartKeepsTheState(t *testing.T) {
	for _, method := range []string{"NodeStageVolume", "NodePublishVolume"} {
		t.Run(method, func(t *testing.T) {
			n := mounted(t, setting{})
			target := n.targetOf("web")
			n.restart(func() { n.fail(method, codes.Internal, 0) })
			n.pass(3 * time.Second)
			assert.Contains(t, n.calls(), method+" Internal")
			assert.Contains(t, n.mounts(), target)

			n.forget()
			n.heal()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
			assert.Empty(t, n.files())
		})
	}
}

// Fact 51: given a call in flight when the kubelet is killed, the test checks the state after the
// restart. The driver finishes the call.
func TestAKubeletThatDiesWithACallInFlight(t *testing.T) { // K-RACE-30
	const stage, publish, unpublish, unstage = "NodeStageVolume OK", "NodePublishVolume OK", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"
	cases := []struct {
		name, method string
		block        bool
		podStays     bool
		want         []string
		left         int // mounts that are not removed
	}{
		{"bb1", "NodeStageVolume", false, true, []string{stage, publish}, 2},
		{"bb2: a staging directory without a pod's directory is invisible", "NodeStageVolume", false, false, []string{}, 1},
		{"bb3", "NodePublishVolume", false, true, []string{stage, publish}, 2},
		{"bb4", "NodePublishVolume", false, false, []string{unpublish, unstage}, 0},
		{"bb5", "NodeUnpublishVolume", false, true, []string{unpublish, unstage}, 0},
		{"bb6", "NodeUnpublishVolume", false, false, []string{unpublish, unstage}, 0},
		{"bb7: an unstage is never repeated", "NodeUnstageVolume", false, false, []string{}, 0},
		{"bb9: the link that shows a device is made only after the publish", "NodePublishVolume", true, false, []string{}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			n.attached("data")
			use := using
			if c.block {
				n.volume("data", block)
				use = usingDevice
			} else {
				n.volume("data")
			}
			n.hold(c.method, 2*time.Second)
			n.pod("web", use("data"))
			if c.method == "NodeUnpublishVolume" || c.method == "NodeUnstageVolume" {
				n.run("web")
				n.deletePod("web")
			}
			n.until(func() bool { return len(n.times(c.method)) == 1 })
			n.killKubelet()
			n.pass(3 * time.Second)
			if !c.podStays && n.phase("web") != "gone" {
				n.forceDelete("web")
			}
			n.forget()
			n.startKubelet()
			n.settle()
			assert.Equal(t, c.want, n.calls())
			assert.Len(t, n.mounts(), c.left)
		})
	}
}

// Facts 35 and 51: a starting kubelet reports its volumes at once.
func TestVolumesInUseAfterARestart(t *testing.T) { // K-RECON-6, K-REC-2, K-ATT-2
	t.Run("a volume on disk is in use", func(t *testing.T) {
		n := start(t, attaching)
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.run("web")
		n.restart(nothing)
		n.pass(time.Second)
		assert.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse())
		for _, e := range n.news() {
			if node, ok := e.New.(*corev1.Node); ok {
				assert.NotEmpty(t, node.Status.VolumesInUse, "it never was unreported")
			}
		}
	})
	t.Run("any other is not, until the next round", func(t *testing.T) {
		n := start(t, attaching)
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.hold("NodeStageVolume", time.Second)
		n.until(func() bool { return len(n.times("NodeStageVolume")) == 1 })
		n.restart(nothing)
		n.pass(time.Second)
		assert.Empty(t, n.inUse())
		n.settle()
		assert.InDelta(t, 10.6, n.times("NodeStageVolume")[0].Seconds(), 0.2)
	})
	t.Run("a detached volume is not in use", func(t *testing.T) {
		n := start(t, attaching)
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.run("web")
		n.restart(func() { n.forceDelete("web"); n.detached() })
		n.pass(firstStatus)
		assert.Empty(t, n.inUse())
		n.settle()
		assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls(), "fact 35: although it is attached elsewhere")
	})
}

// K-REC-3, K-RECON-6, K-RACE-20.
func TestNothingIsUnmountedBeforeTheNodesStatusIsKnown(t *testing.T) {
	n := mounted(t, setting{})
	n.killKubelet()
	n.forceDelete("web")
	_, err := store.Delete[*corev1.Node](n.Store, store.Key{Name: nodeName})
	require.NoError(t, err)
	n.forget()
	n.startKubelet()
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls(), "fact 60: the kubelet makes a new Node")
}

// Fact 73: without the driver there is neither an event about the volume nor a change until the
// driver has registered. The container of the deleted pod is stopped (trace ll1).
func TestAKubeletThatStartsWhileItsDriverIsDown(t *testing.T) {
	n := mounted(t, setting{})
	require.NoError(t, n.registrar.Stop())
	n.restart(func() { n.forceDelete("web") })
	n.pass(20 * time.Second)
	assert.Empty(t, n.calls())
	assert.Empty(t, n.warnings())
	assert.Contains(t, n.events(), "Normal Killing: Stopping container c (1)")
	n.registrar.Start()
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	assert.Empty(t, n.files())
}

func TestAVolumeWithoutItsDataFileStaysUnseen(t *testing.T) { // K-RECON-5, K-ORPH-1
	n := mounted(t, setting{})
	target := n.targetOf("web")
	n.restart(func() {
		n.forceDelete("web")
		// K-RACE-29
		require.NoError(t, n.machine.WriteFile(target[:len(target)-len("mount")]+"vol_data.json", nil, 0o644))
	})
	n.pass(time.Minute)
	assert.Empty(t, n.calls())
	assert.Contains(t, n.mounts(), target, "its pod's directory stays because of the mount")
}

func TestADirectoryLeftDuringABackoffIsRemovedAfterARestart(t *testing.T) { // K-RECON-11
	n := mounted(t, setting{})
	n.fail("NodeUnpublishVolume", codes.Internal, 0)
	n.deletePod("web")
	n.pass(2 * time.Minute)
	n.restart(n.heal)
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	assert.LessOrEqual(t, n.times("NodeUnpublishVolume")[0], 2*time.Second, "backoff is in memory only")
}

func TestOrphanedPodDirectories(t *testing.T) { // K-ORPH-1, K-ORPH-2
	n := start(t, setting{})
	empty, held, found := csi.DefaultDir.PodDir("u-empty"), csi.DefaultDir.PodDir("u-held"), csi.DefaultDir.PodDir("u-mounted")
	n.restart(func() {
		for _, dir := range []string{
			empty + "/volumes/kubernetes.io~csi/pv-x/mount", empty + "/plugins",
			held + "/volumes/kubernetes.io~csi/pv-x", found + "/volumes/kubernetes.io~csi/pv-x/mount",
		} {
			require.NoError(t, n.machine.MkdirAll(dir, 0o750))
		}
		require.NoError(t, n.machine.WriteFile(empty+"/plugins/note", nil, 0o644))
		require.NoError(t, n.machine.WriteFile(held+"/volumes/kubernetes.io~csi/pv-x/vol_data.json", nil, 0o644))
		require.NoError(t, n.machine.MkdirAll("/x", 0o755))
		require.NoError(t, n.machine.BindMount("/x", found+"/volumes/kubernetes.io~csi/pv-x/mount", false))
	})
	n.pass(5 * time.Second)
	assert.False(t, n.exists(empty))
	assert.True(t, n.exists(held), "files below volumes block it for ever")
	assert.True(t, n.exists(found), "so does a mount")
	assert.Empty(t, n.calls(), "and the driver is not asked")
}

func TestACSIDriverIsNotNeededToReconstruct(t *testing.T) { // K-RECON-3
	n := mounted(t, setting{})
	n.restart(func() {
		n.forceDelete("web")
		_, err := store.Delete[*storagev1.CSIDriver](n.Store, store.Key{Name: driverName})
		require.NoError(t, err)
	})
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
}
