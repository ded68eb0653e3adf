package fakekubelet_test

import (
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/machine"
)

// mounted returns a node on which volume data is mounted for pod web.
func mounted(t *testing.T, s setting, changes ...func(*corev1.PersistentVolume)) *node {
	n := start(t, s)
	n.volume("data", changes...)
	n.pod("web", using("data"))
	n.run("web")
	return n
}

func (n *node) targetOf(pod string) string {
	return csi.DefaultDir.TargetPath(n.uid(pod), "pv-data")
}

// conformance: unit-unstage-ok, unit-unpublish-ok
func TestUnpublishAndUnstageCarryOnlyIdAndPath(t *testing.T) { // K-UNPUB-2, K-UNSTAGE-3, fact 14
	n := mounted(t, setting{})
	target := n.targetOf("web")
	n.deletePod("web")
	n.settle()
	assert.Empty(t, cmp.Diff(&csispec.NodeUnpublishVolumeRequest{VolumeId: "h-data", TargetPath: target},
		request[*csispec.NodeUnpublishVolumeRequest](n), protocmp.Transform()))
	assert.Empty(t, cmp.Diff(&csispec.NodeUnstageVolumeRequest{VolumeId: "h-data", StagingTargetPath: csi.DefaultDir.StagingPath(driverName, "h-data")},
		request[*csispec.NodeUnstageVolumeRequest](n), protocmp.Transform()))
	assert.Empty(t, n.files())
}

// K-UNPUB-3, K-TRACE-11, facts 28 and 3: any error code is a failure without an event, and the pod
// stays.
func TestAFailingUnpublishHoldsThePodBack(t *testing.T) {
	for _, code := range []codes.Code{codes.Internal, codes.NotFound, codes.DeadlineExceeded} {
		t.Run(code.String(), func(t *testing.T) {
			n := mounted(t, setting{})
			n.fail("NodeUnpublishVolume", code, 2)
			n.deletePod("web")
			n.pass(time.Second)
			assert.NotEqual(t, corev1.PodPhase("gone"), n.phase("web"))
			n.settle()
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
			failed := "NodeUnpublishVolume " + code.String()
			assert.Equal(t, []string{failed, failed, "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
			assert.InDeltaSlice(t, []float64{0.5, 1}, n.gaps("NodeUnpublishVolume"), 0.15)
			assert.Equal(t, []string{"Normal Killing: Stopping container c (1)"}, n.events())
		})
	}
}

func TestAFailingUnstageHoldsOnlyTheVolumeBack(t *testing.T) { // fact 28, K-POD-6
	n := mounted(t, setting{})
	n.fail("NodeUnstageVolume", codes.Internal, 3)
	n.pass(time.Second)
	n.deletePod("web")
	n.pass(time.Second)
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	n.settle()
	assert.InDeltaSlice(t, []float64{0.5, 1, 2}, n.gaps("NodeUnstageVolume"), 0.15)
	assert.Equal(t, []string{"Normal Killing: Stopping container c (1)"}, n.events())
}

func TestAVolumeWithAFailedUnstageIsStagedAgain(t *testing.T) { // K-ERR-6, K-STAGE-4
	n := mounted(t, setting{})
	n.fail("NodeUnstageVolume", codes.Internal, 1)
	n.deletePod("web")
	n.until(func() bool { return len(n.times("NodeUnstageVolume")) == 1 })
	n.forget()
	n.pod("log", using("data"))
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
}

// Fact 37: the end of the backoff decides, not the registration.
func TestAPodDeletedWhileTheDriverIsDown(t *testing.T) {
	n := mounted(t, setting{})
	n.unregister()
	n.forget()
	n.deletePod("web")
	n.pass(20 * time.Second)
	assert.Empty(t, n.calls())
	n.registrar.Start()
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	deleted, registered := n.moment("pods MODIFIED"), n.moment("csinodes MODIFIED")
	assert.Greater(t, n.times("NodeUnpublishVolume")[0]-registered, 5*time.Second)
	assert.InDelta(t, 31.5, (n.times("NodeUnpublishVolume")[0] - deleted).Seconds(), 1, "after 0.5, 1, 2, 4, 8 and 16 seconds")
}

func TestWithoutItsDataFileAVolumeIsNeverUnpublished(t *testing.T) { // K-UNPUB-1
	n := mounted(t, setting{})
	require.NoError(t, n.machine.Remove(n.targetOf("web")[:len(n.targetOf("web"))-len("mount")]+"vol_data.json"))
	n.deletePod("web")
	n.pass(10 * time.Minute)
	assert.Empty(t, n.calls())
	assert.Equal(t, corev1.PodSucceeded, n.phase("web"), "the pod hangs")
}

func TestLeftoversAtTheTargetPath(t *testing.T) { // K-UNPUB-4
	t.Run("a mount: the call counts as success, the pod waits", func(t *testing.T) {
		n := mounted(t, setting{driver: mock.Options{Faulty: []string{"unpublish-leaks", "unstage-while-published"}}})
		target := n.targetOf("web")
		n.deletePod("web")
		n.pass(time.Minute)
		assert.Len(t, n.times("NodeUnpublishVolume"), 1)
		assert.Equal(t, corev1.PodSucceeded, n.phase("web"))
		assert.Empty(t, n.times("NodeUnstageVolume"), "K-UNSTAGE-2: another mount shows the staged volume")

		require.NoError(t, n.machine.Unmount(target))
		n.pass(time.Second)
		assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
		n.settle()
		assert.Len(t, n.times("NodeUnstageVolume"), 1)
	})
	t.Run("a file: the driver is called again", func(t *testing.T) {
		n := mounted(t, setting{})
		target := n.targetOf("web")
		require.NoError(t, n.machine.Unmount(target))
		require.NoError(t, n.machine.WriteFile(target+"/left", nil, 0o644))
		n.deletePod("web")
		n.pass(time.Second)
		require.NoError(t, n.machine.Remove(target+"/left"))
		n.settle()
		assert.Greater(t, len(n.times("NodeUnpublishVolume")), 1)
		assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	})
}

func TestAStagedVolumeThatIsMountedElsewhereIsNotUnstaged(t *testing.T) { // K-UNSTAGE-2, K-ERR-6
	n := mounted(t, setting{})
	require.NoError(t, n.machine.MkdirAll("/elsewhere", 0o755))
	require.NoError(t, n.machine.BindMount(csi.DefaultDir.StagingPath(driverName, "h-data"), "/elsewhere", false))
	n.deletePod("web")
	n.pass(5 * time.Second)
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls())

	n.forget()
	n.pod("log", using("data"))
	n.pass(time.Second)
	assert.Equal(t, []string{"NodePublishVolume OK"}, n.calls(), "the device's state has not changed: it is still staged")

	require.NoError(t, n.machine.Unmount("/elsewhere"))
	n.deletePod("log")
	n.settle()
	assert.Len(t, n.times("NodeUnstageVolume"), 1)
}

func TestWithoutTheStagingDataFileThereIsNoUnstage(t *testing.T) { // K-UNSTAGE-3, K-RACE-25
	n := mounted(t, setting{})
	staging := csi.DefaultDir.StagingPath(driverName, "h-data")
	require.NoError(t, n.machine.Remove(staging[:len(staging)-len("globalmount")]+"vol_data.json"))
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls())
	assert.Equal(t, []string{staging}, n.mounts())
}

// Facts 45, 46 and 48: the kubelet gives up after two minutes, and calls again.
func TestTheKubeletsDeadline(t *testing.T) {
	n := mounted(t, setting{})
	n.hold("NodeUnstageVolume", 140*time.Second)
	n.deletePod("web")
	n.until(func() bool { return len(n.times("NodeUnstageVolume")) == 1 })
	n.pass(119 * time.Second)
	assert.Len(t, n.times("NodeUnstageVolume"), 1)
	n.pass(2 * time.Second)
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume DeadlineExceeded", "NodeUnstageVolume OK"}, n.calls())
	assert.InDeltaSlice(t, []float64{120.5}, n.gaps("NodeUnstageVolume"), 0.15)
}

// Fact 48: a pod that is created again during an unstage waits for the unstage to end. After the
// deadline the volume is staged without another unstage.
func TestAPodThatReturnsDuringAnUnstage(t *testing.T) {
	n := mounted(t, setting{driver: mock.Options{Faulty: []string{"unstage-while-published"}}})
	n.hold("NodeUnstageVolume", 140*time.Second)
	n.deletePod("web")
	n.until(func() bool { return len(n.times("NodeUnstageVolume")) == 1 })
	n.pod("web-2", using("data"))
	n.forget()
	n.pass(119 * time.Second)
	assert.Empty(t, n.calls())
	assert.Empty(t, n.events())
	n.pass(2 * time.Second)
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
	n.pass(30 * time.Second)
	assert.NotContains(t, n.mounts(), csi.DefaultDir.StagingPath(driverName, "h-data"), "the late unstage has removed the mount")
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls(), "and no component notices")
}

func TestEverythingIsTidiedUp(t *testing.T) { // K-UNPUB-6, K-ORPH-2
	n := mounted(t, setting{})
	before := machine.KubeletDir + "/pods/" + string(n.uid("web"))
	assert.True(t, n.exists(before))
	n.deletePod("web")
	n.settle()
	assert.False(t, n.exists(before))
	assert.Empty(t, n.files())
	assert.Empty(t, n.mounts())
}

// A sync begins when the runtime reports a change. The kubelet checks for changes once a second. In
// the recordings, NodeUnpublishVolume follows the deletion after 80 ms to 1 s if the pod had just
// started, and otherwise after 30 to 280 ms.
func TestTheEndOfAPodThatHasJustStartedWaitsForTheRuntime(t *testing.T) {
	for name, tt := range map[string]struct{ before, least, most time.Duration }{
		"just started":      {0, 500 * time.Millisecond, 1200 * time.Millisecond},
		"a second after it": {time.Second, 0, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			n := mounted(t, setting{})
			n.pass(tt.before)
			n.deletePod("web")
			began := n.Kernel.Elapsed()
			n.until(func() bool { return len(n.times("NodeUnpublishVolume")) == 1 })
			took := n.Kernel.Elapsed() - began
			assert.GreaterOrEqual(t, took, tt.least)
			assert.LessOrEqual(t, took, tt.most)
		})
	}
}
