package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/store"
)

func TestAPodsLife(t *testing.T) { // K-POD-1, K-POD-5, K-POD-6, facts 1 and 3
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.settle()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{
		"Pending", "NodeStageVolume OK", "NodePublishVolume OK", "RunPodSandbox", "CreateContainer", "StartContainer", "Running",
		"StopContainer", "StopPodSandbox", "Succeeded", "NodeUnpublishVolume OK", "NodeUnstageVolume OK", "gone",
	}, n.story())
	assert.Equal(t, []string{
		"Normal Pulled: Container image \"registry.local/sleep:1\" already present on machine and can be accessed by the pod (1)",
		"Normal Created: Container created (1)", "Normal Started: Container started (1)", "Normal Killing: Stopping container c (1)",
	}, n.events())
}

func TestTheEnvironmentOfAContainer(t *testing.T) { // facts 1 and 9
	mounts := func(n *node) any {
		for _, e := range n.news() {
			if e.Method == "CreateContainer" {
				return e.Detail.(map[string]any)["mounts"]
			}
		}
		return nil
	}
	t.Run("a filesystem", func(t *testing.T) {
		n := start(t, setting{})
		n.volume("data")
		uid := n.pod("web", using("data"))
		n.settle()
		assert.Equal(t, []runtime.Mount{{Container: "/mnt/data", Host: csi.DefaultDir.TargetPath(uid, "pv-data")}}, mounts(n))
	})
	t.Run("a device", func(t *testing.T) {
		n := start(t, setting{})
		n.volume("data", block)
		uid := n.pod("web", usingDevice("data"))
		n.settle()
		assert.Equal(t, []runtime.Mount{{Device: "/dev/xvda", Host: csi.DefaultDir.PodDevicePath(uid, "pv-data"), Permissions: "mrw"}}, mounts(n))
	})
}

func TestAForceDeletedPodIsCleanedUpLikeAnyOther(t *testing.T) { // K-POD-8, fact 58
	n := mounted(t, setting{})
	n.pass(time.Second)
	n.forceDelete("web")
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	n.settle()
	assert.Equal(t, []string{"gone", "StopContainer", "StopPodSandbox", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.story())
	assert.LessOrEqual(t, n.times("NodeUnstageVolume")[0], 1400*time.Millisecond)
	assert.Empty(t, n.files())
}

// conformance: vm-populator-failed-pod-still-known
func TestACompletedPodIsUnmountedToo(t *testing.T) { // K-POD-7
	n := mounted(t, setting{})
	_, err := store.ModifyStatus(n.Store, podKey("web"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	require.NoError(t, err)
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	assert.Equal(t, corev1.PodSucceeded, n.phase("web"), "it exists until it is deleted")

	n.deletePod("web")
	n.settle()
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	assert.Empty(t, n.files())
}

func TestAPodWithAFinalizerIsCleanedUpOnce(t *testing.T) {
	n := mounted(t, setting{})
	_, err := store.Modify(n.Store, podKey("web"), func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} })
	require.NoError(t, err)
	n.deletePod("web")
	n.pass(time.Minute)
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	_, err = store.Modify(n.Store, podKey("web"), func(p *corev1.Pod) { p.Finalizers = nil })
	require.NoError(t, err)
	n.settle()
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	assert.Len(t, n.calls(), 2)
}

// Fact 49: the pod object does not wait for a mount in flight.
func TestAPodDeletedWhileItsVolumeIsBeingStaged(t *testing.T) { // K-RACE-11, K-RACE-12
	n := start(t, setting{})
	n.volume("data")
	n.hold("NodeStageVolume", 15*time.Second)
	n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodeStageVolume")) == 1 })
	n.pass(time.Second)
	n.forget()
	n.deletePod("web")
	n.pass(2 * time.Second)
	assert.Equal(t, []string{"Failed", "gone"}, n.story())
	assert.InDelta(t, 1.5, n.moment("pods DELETED").Seconds(), 0.5)

	n.settle()
	assert.Equal(t, []string{"NodePublishVolume OK", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	published := n.times("NodePublishVolume")[0]
	assert.InDelta(t, 0.1, (n.times("NodeUnpublishVolume")[0] - published).Seconds(), 0.1)
	assert.InDelta(t, 0.2, (n.times("NodeUnstageVolume")[0] - published).Seconds(), 0.1)
	assert.Empty(t, n.files())
	assert.Empty(t, n.mounts())
}

// Fact 47: the kubelet makes no call for a volume while another call for it is in progress. At the
// deadline it cleans up at once.
func TestAPodDeletedWhileItsVolumeHangsInPublish(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.hold("NodePublishVolume", 140*time.Second)
	n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodePublishVolume")) == 1 })
	n.pass(5 * time.Second)
	n.forget()
	n.deletePod("web")
	n.pass(110 * time.Second)
	assert.Equal(t, []string{"Failed", "gone"}, n.story())
	n.pass(6 * time.Second)
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	assert.InDelta(t, 115.1, n.times("NodeUnpublishVolume")[0].Seconds(), 0.1)
}

// Fact 50: after its own wait has expired, a pod starts at the worker's next try.
func TestAPodWhoseWaitHasExpiredStartsAtTheNextTry(t *testing.T) { // K-REC-8, K-POD-2, K-POD-3
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Internal, 8) // until 127.9 s
	n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodePublishVolume")) == 1 })
	n.until(func() bool { return n.phase("web") == corev1.PodRunning })
	running := (n.Kernel.Elapsed() - n.since.At).Seconds()
	assert.InDelta(t, 123+10, running, 1)
	for _, e := range n.events() {
		assert.NotContains(t, e, "Unable to attach", "K-POD-2: a wait that took too long is not reported")
	}
}

func TestDeletionEndsTheWaitForVolumesAtOnce(t *testing.T) { // K-POD-4
	n := start(t, attaching)
	n.volume("data")
	n.pod("web", using("data"))
	n.pass(4 * time.Second)
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"Failed", "gone"}, n.story())
	assert.InDelta(t, 1.5, n.moment("pods DELETED").Seconds(), 0.5)
	assert.Empty(t, n.events())
}

func TestAPodRecreatedWithTheSameNameIsAnotherPod(t *testing.T) { // fact 72
	n := mounted(t, setting{})
	old := n.uid("web")
	n.forceDelete("web")
	n.pod("web", using("data"))
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	assert.False(t, n.exists(csi.DefaultDir.PodDir(old)))
	assert.True(t, n.exists(n.targetOf("web")))
}

// Fact 73, ll2: mounts and sandboxes are lost, and the pod's containers start again.
func TestAReboot(t *testing.T) {
	n := mounted(t, setting{})
	n.killKubelet()
	n.runtime.PowerOff()
	require.NoError(t, n.machine.PowerOff())
	n.registrar.Kill()
	n.driver.Node(nodeOptions(n)).Reboot()
	n.startKubelet()
	n.pass(4 * time.Second)
	assert.Contains(t, n.warnings()[0], "Warning FailedMount: MountVolume.MountDevice failed for volume \"pv-data\" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient")

	n.forget()
	n.startDriver()
	n.registrar.Start()
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK", "RunPodSandbox", "CreateContainer", "StartContainer"}, n.story())
	assert.Contains(t, n.events(), "Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created. (1)")
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// reboot cuts the power of a node, which ends the kubelet, the containers and the driver, and boots
// it again.
func (n *node) reboot() {
	n.killKubelet()
	n.runtime.PowerOff()
	if n.setting.recovers {
		n.newRuntime()
		for pod := range store.List[*corev1.Pod](n.Store, "") {
			n.runtime.Recover(pod)
		}
	}
	require.NoError(n.t, n.machine.PowerOff())
	n.registrar.Kill()
	n.driver.Node(nodeOptions(n)).Reboot()
	n.forget()
	n.startDriver()
	n.registrar.Start()
	n.startKubelet()
}

// bothWays runs a test with a runtime that still has its records after a reboot, and with a runtime
// that recovers them from the pods, as in a cluster that csisim up --state continues.
func bothWays(t *testing.T, test func(t *testing.T, s setting)) {
	t.Run("in one process", func(t *testing.T) { test(t, setting{}) })
	t.Run("in two processes", func(t *testing.T) { test(t, setting{recovers: true}) })
}

// K-POD-13: pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions,
// shouldRestartOnFailure.
func TestAPodThatNeverRestartsFailsAfterAReboot(t *testing.T) {
	for name, lives := range map[string]map[string]runtime.Life{
		"containers that are started at once":  nil,
		"containers that are started in a row": {"registry.local/sleep": {Runs: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, s setting) {
				s.lives = lives
				n := start(t, s)
				n.volume("data")
				n.pod("once", using("data"), policy(corev1.RestartPolicyNever))
				n.waitRunning("once")
				n.reboot()
				n.settle()
				assert.Equal(t, "Failed, c exited 255 0", n.state("once"))
				assert.Equal(t, "Unknown", n.status("once").ContainerStatuses[0].State.Terminated.Reason)
				assert.Equal(t, []string{"Failed", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.story())
				assert.Empty(t, n.warnings())
				assert.NotContains(t, n.events(), "Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created. (1)")
			})
		})
	}
}

// K-POD-13: a pod without any container so far starts as if nothing had happened.
func TestAPodThatNeverRestartsStartsAfterAReboot(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Internal, 3)
	n.pod("once", using("data"), policy(corev1.RestartPolicyNever))
	n.until(func() bool { return len(n.times("NodeStageVolume")) == 2 })
	n.reboot()
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("once"))
}

// K-POD-13: the status says 255, since the API does not treat a container with exit code 0 as
// started. [pkg/apis/core/validation: ValidateContainerStateTransition]
func TestAPodThatRestartsOnFailureRunsAgainAfterAReboot(t *testing.T) {
	n := start(t, setting{})
	n.pod("work", policy(corev1.RestartPolicyOnFailure))
	n.waitRunning("work")
	n.reboot()
	n.settle()
	assert.Equal(t, "Running, c running 1", n.state("work"))
}

// K-POD-13: the runtime lists the containers from before the reboot, so the number of restarts
// continues, and the status has the last end of each container.
// [pkg/kubelet/kuberuntime/kuberuntime_container.go: startContainer]
func TestTheRestartsOfAPodContinueAfterAReboot(t *testing.T) {
	for name, lives := range map[string]map[string]runtime.Life{
		"containers that are started at once":  nil,
		"containers that are started in a row": {"registry.local/sleep": {Runs: time.Hour}, "setup": {}},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, s setting) {
				s.lives = lives
				n := start(t, s)
				n.volume("data")
				n.pod("web", using("data"), func(s *corev1.PodSpec) {
					s.InitContainers = []corev1.Container{{Name: "setup", Image: "setup"}}
				})
				n.waitRunning("web")
				n.reboot()
				n.settle()
				require.Equal(t, "Running, setup exited 0 1, c running 1", n.state("web"))
				n.reboot()
				n.settle()
				require.Equal(t, "Running, setup exited 0 2, c running 2", n.state("web"))
				status := n.status("web")
				assert.Equal(t, "Completed", status.InitContainerStatuses[0].LastTerminationState.Terminated.Reason)
				last := status.ContainerStatuses[0].LastTerminationState.Terminated
				assert.Equal(t, "Unknown", last.Reason)
				assert.Equal(t, int32(runtime.PowerLossCode), last.ExitCode)
				assert.True(t, last.StartedAt.Before(&last.FinishedAt))
			})
		})
	}
}

// K-POD-13: a container that has ended keeps its number of restarts until it starts again.
func TestTheRestartsOfAPodStayWhileItsDriverIsDown(t *testing.T) {
	for name, lives := range map[string]map[string]runtime.Life{
		"containers that are started at once":  nil,
		"containers that are started in a row": {"registry.local/sleep": {Runs: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, s setting) {
				s.lives = lives
				n := start(t, s)
				n.volume("data")
				n.pod("web", using("data"))
				n.waitRunning("web")
				n.reboot()
				n.settle()
				n.fail("NodeStageVolume", codes.Internal, 3)
				n.reboot()
				n.until(func() bool { return len(n.times("NodeStageVolume")) == 2 })
				assert.Equal(t, "Running, c exited 255 1", n.state("web"))
				n.reboot()
				n.settle()
				assert.Equal(t, "Running, c running 2", n.state("web"))
			})
		})
	}
}

// K-POD-13: under OnFailure, a container that exited with 0 does not run again, but a container
// that was running does.
func TestFinishedContainersDoNotRunAgainAfterAReboot(t *testing.T) {
	bothWays(t, func(t *testing.T, s setting) {
		s.lives = map[string]runtime.Life{"quick": {Runs: time.Second}, "slow": {Runs: time.Hour}}
		n := start(t, s)
		n.pod("work", image("slow"), policy(corev1.RestartPolicyOnFailure), func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "quick", Image: "quick"})
		})
		n.pass(10 * time.Second)
		n.reboot()
		n.pass(20 * time.Second)
		assert.Equal(t, "Running, c running 1, quick exited 0 0", n.state("work"))
	})
}

// conformance: vm-idle
func TestAnIdleKubeletCostsNothing(t *testing.T) {
	n := mounted(t, setting{})
	n.settle()
	n.pass(time.Minute) // past the first status rounds
	before := n.Kernel.Hash()
	n.pass(3 * time.Minute) // short of the five-minute report
	assert.Equal(t, before, n.Kernel.Hash(), "no process has run")
}
