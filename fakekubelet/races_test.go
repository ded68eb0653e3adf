package fakekubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/trace"
)

// These are the known races of the kubelet, and the guards against them.

func TestTheKubeletCallsTheNodeServiceOnly(t *testing.T) { // K-RPC-1
	n := start(t, setting{driver: mock.Options{NodeExpand: true, Stats: true}})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.resized("data", "2Gi", "2Gi", pending)
	n.deletePod("web")
	n.settle()
	for _, e := range n.Trace.Events() {
		if e.Kind == trace.Call && e.Actor == "kubelet" {
			assert.Contains(t, e.Method, "Node/", "no Identity, no Controller")
		}
	}
}

// K-RACE-6: between unregistering and registering every step fails, changes
// nothing, and is tried again.
func TestTheWindowOfARegistration(t *testing.T) {
	n := mounted(t, setting{})
	n.unregister()
	n.pod("log", using("data"))
	n.pass(2 * time.Second)
	mounts := n.mounts()
	n.registrar.Start()
	n.waitRunning("log")
	assert.Subset(t, n.mounts(), mounts)
	assert.Equal(t, []string{"NodePublishVolume OK"}, n.calls(), "the staged volume stays staged")
}

// K-RACE-13, K-ERR-5: the pod is deleted while its volume is being unstaged; the volume is in use
// until the kubelet drops it from its actual state.
func TestAVolumeIsInUseUntilItIsUnstaged(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.run("web")
	n.hold("NodeUnstageVolume", 40*time.Second)
	n.deletePod("web")
	n.until(func() bool { return n.phase("web") == "gone" })
	n.pass(30 * time.Second)
	assert.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse())
	n.pass(25 * time.Second)
	assert.Empty(t, n.inUse())
}

// K-RACE-14: a pod that is created while its volume is being unstaged waits until the unstage ends.
// Then the volume is staged again.
func TestAPodThatArrivesDuringAnUnstage(t *testing.T) {
	n := mounted(t, setting{})
	n.hold("NodeUnstageVolume", 5*time.Second)
	n.deletePod("web")
	n.until(func() bool { return len(n.times("NodeUnstageVolume")) == 1 })
	n.pod("log", using("data"))
	n.pass(4 * time.Second)
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls()[:1])
	assert.Empty(t, n.times("NodeStageVolume"))
	n.waitRunning("log")
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK", "NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
}

// K-RACE-19: the first wait ignores uncertain volumes. The second wait has no limit and considers
// them: the pod stays.
func TestADeletedPodStaysWhileItsVolumeIsUncertain(t *testing.T) {
	n := mounted(t, setting{})
	n.fail("NodeUnpublishVolume", codes.Internal, 0)
	n.deletePod("web")
	n.pass(10 * time.Minute)
	assert.NotEqual(t, corev1.PodPhase("gone"), n.phase("web"))
	n.heal()
	n.settle()
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
}

// K-RACE-26: the driver may still be at work when the kubelet calls again.
func TestATimedOutCallIsRepeatedWhileItRuns(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.hold("NodeStageVolume", 10*time.Minute)
	n.pod("web", using("data"))
	n.waitRunning("web")
	assert.Equal(t, []string{"NodeStageVolume DeadlineExceeded", "NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
	assert.InDeltaSlice(t, []float64{120.5}, n.gaps("NodeStageVolume"), 0.15)
}

// K-RACE-32, K-ERR-3: after a restart, a final error never makes the kubelet regard a device as
// unstaged.
func TestAfterARestartAFailingStageIsAlwaysUnstaged(t *testing.T) {
	n := mounted(t, setting{})
	n.restart(func() { n.fail("NodeStageVolume", codes.InvalidArgument, 0) })
	n.pass(5 * time.Second)
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Contains(t, n.calls(), "NodeUnstageVolume OK")
}

// K-EXP-18: an expansion excludes all other operations on the volume.
func TestNothingHappensToAVolumeWhileItIsExpanded(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.hold("NodeExpandVolume", 20*time.Second)
	n.resized("data", "2Gi", "2Gi", pending)
	n.until(func() bool { return len(n.times("NodeExpandVolume")) == 1 })
	n.pod("log", using("data"))
	n.pass(19 * time.Second)
	assert.Empty(t, n.times("NodePublishVolume"))
	n.waitRunning("log")
	assert.Len(t, n.times("NodePublishVolume"), 1)
}

// K-UNPUB-5: such a volume is unpublished even if the publish never reached the driver.
func TestAVolumeThatMayBePublishedIsUnpublished(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodePublishVolume", codes.Unavailable, 0)
	n.pod("web", using("data"))
	n.thirdRetry()
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
}

// K-EVT-2: the failures without an event.
func TestFailuresWithoutAnEvent(t *testing.T) {
	n := mounted(t, setting{csiDriver: republish})
	n.pass(3 * time.Minute)
	assert.NotEmpty(t, n.times("NodePublishVolume"), "it is published anew")
	n.fail("NodeUnpublishVolume", codes.Internal, 2)
	n.fail("NodeUnstageVolume", codes.Internal, 2)
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"Normal Killing: Stopping container c (1)"}, n.events())
}

func TestTheDriverMakesTheTargetItself(t *testing.T) { // K-PUB-2
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodePublishVolume", codes.Unavailable, 0)
	uid := n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodePublishVolume")) == 1 })
	target := csi.DefaultDir.TargetPath(uid, "pv-data")
	assert.True(t, n.exists(strings.TrimSuffix(target, "/mount")))
	assert.False(t, n.exists(target))
}

// K-RACE-27, K-RACE-28: if a publish takes effect after its error has been treated as final, only
// the clean-up of orphans notices it, and makes no call.
func TestAMountAfterAFinalError(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodePublishVolume", codes.Internal, 0)
	uid := n.pod("web", using("data"))
	n.thirdRetry()
	target := csi.DefaultDir.TargetPath(uid, "pv-data")
	require.NoError(t, n.machine.MkdirAll(target, 0o750))
	require.NoError(t, n.machine.MkdirAll("/late", 0o755))
	require.NoError(t, n.machine.BindMount("/late", target, false))
	n.forget()
	n.forceDelete("web")
	n.pass(10 * time.Minute)
	assert.Empty(t, n.times("NodeUnpublishVolume"))
	assert.Contains(t, n.mounts(), target)
}

// K-RACE-35: a call for a volume's statistics may be in progress while its pod is deleted. Neither
// waits for the other, and the answer causes no event.
func TestStatisticsDoNotHoldAnUnmountBack(t *testing.T) {
	for _, code := range []codes.Code{codes.OK, codes.NotFound} {
		n := start(t, setting{driver: mock.Options{Stats: true}, statsPeriod: time.Minute})
		n.volume("data")
		n.pod("web", using("data"))
		n.run("web")
		n.wire.Faults.Inject(&fault.Fault{Name: "late", Call: "NodeGetVolumeStats", Effect: fault.HoldAnswer, Delay: 20 * time.Second, Times: 1, Code: code})
		n.until(func() bool { return len(n.times("NodeGetVolumeStats")) == 1 })
		n.forget()
		n.deletePod("web")
		n.pass(5 * time.Second)
		assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
		assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
		n.settle()
		assert.Empty(t, n.volumeMetrics())
		assert.Equal(t, []string{"Normal Killing: Stopping container c (1)"}, n.events())
	}
}

// K-RACE-33: right after a mount with an expansion the volume still looks too small. For volumes on
// many nodes, or with an old csi-resizer, this causes a second call; for a volume on one node it
// does not.
func TestASecondExpansionAfterAMount(t *testing.T) {
	for _, c := range []struct {
		name      string
		mode      corev1.PersistentVolumeAccessMode
		allocated string
		status    corev1.ClaimResourceStatus
		calls     int
	}{
		{"one node", corev1.ReadWriteOnce, "2Gi", pending, 1},
		{"many nodes", corev1.ReadWriteMany, "2Gi", pending, 2},
		{"an old resizer", corev1.ReadWriteOnce, "", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{driver: expands})
			n.volume("data", accessMode(c.mode))
			n.resized("data", "2Gi", c.allocated, c.status)
			n.pod("web", using("data"))
			n.settle()
			assert.Len(t, n.times("NodeExpandVolume"), c.calls)
			if c.calls > 1 {
				assert.LessOrEqual(t, n.gaps("NodeExpandVolume")[0], 0.2)
			}
			assert.Equal(t, "2Gi ", n.claimText("data"))
			n.pass(10 * time.Minute)
			assert.Len(t, n.times("NodeExpandVolume"), c.calls)
		})
	}
}
