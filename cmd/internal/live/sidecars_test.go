package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Given two sidecars and an init container after them. When the first sidecar takes a while to
// start, then each container waits for the previous one. When the main container ends, the pod
// ends, and the sidecars end after it in reverse order.
func TestSidecarsServeAPodWhoseWorkEnds(t *testing.T) {
	c := startPrograms(t)
	c.make(`
metadata: {name: job}
spec:
  restartPolicy: Never
  volumes: [{name: data, emptyDir: {}}]
  initContainers:
  - name: slow
    image: registry.local/shell
    restartPolicy: Always
    args: [-c, "trap 'echo slow ends >>/data/log; exit 0' TERM; sleep 0.5; echo slow >>/data/log; touch /data/up; while :; do sleep 0.05; done"]
    startupProbe: {exec: {command: [test, -e, /data/up]}, periodSeconds: 1, failureThreshold: 30}
    volumeMounts: [{name: data, mountPath: /data}]
  - name: second
    image: registry.local/shell
    restartPolicy: Always
    args: [-c, "trap 'sleep 0.3; echo second ends >>/data/log; exit 7' TERM; echo second >>/data/log; while :; do sleep 0.05; done"]
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: work, image: registry.local/shell, args: [-c, "echo init >>/data/log"], volumeMounts: [{name: data, mountPath: /data}]}
  containers:
  - name: main
    image: registry.local/shell
    args: [-c, "echo main >>/data/log; while [ ! -e /data/go ]; do sleep 0.05; done; sleep 0.5; echo main ends >>/data/log"]
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: reader, image: registry.local/shell, args: [-c, "while ! grep -q 'main ends' /data/log; do sleep 0.05; done; cat /data/log"], volumeMounts: [{name: data, mountPath: /data}]}
`, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && len(pod.Status.ContainerStatuses) == 2 && pod.Status.ContainerStatuses[0].Ready
	})
	pod, err := c.CoreV1().Pods("default").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	for i, want := range []string{"running ready", "running ready", "ended ready"} {
		assert.Equal(t, want, stateOf(&pod.Status.InitContainerStatuses[i]), pod.Status.InitContainerStatuses[i].Name)
	}
	c.execIn("job", "main", "touch", "/data/go")
	require.Eventually(t, func() bool {
		pod, err = c.CoreV1().Pods("default").Get(t.Context(), "job", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodSucceeded
	}, time.Minute, 20*time.Millisecond)
	assert.Equal(t, "slow\nsecond\ninit\nmain\nmain ends\n", c.log("job", corev1.PodLogOptions{Container: "reader"}))
	first, second := pod.Status.InitContainerStatuses[0].State.Terminated, pod.Status.InitContainerStatuses[1].State.Terminated
	assert.EqualValues(t, 7, second.ExitCode, "how a sidecar ends changes nothing")
	assert.False(t, first.FinishedAt.Time.Before(second.FinishedAt.Time), "the last one ends first")
	c.down()
}

// Given a pod with the restart policy Never, when its sidecar ends repeatedly, then the kubelet
// restarts the sidecar. The pod is not ready meanwhile, and its other container runs on.
func TestASidecarIsAlwaysStartedAgain(t *testing.T) {
	c := startPrograms(t)
	pod := c.make(`
metadata: {name: web}
spec:
  restartPolicy: Never
  initContainers: [{name: sidecar, image: registry.local/shell, restartPolicy: Always, args: [-c, "sleep 0.3; exit 3"]}]
  containers: [{name: main, image: registry.local/shell, args: [-c, "sleep 1000"]}]
`, func(pod *corev1.Pod) bool {
		return len(pod.Status.InitContainerStatuses) == 1 && pod.Status.InitContainerStatuses[0].RestartCount == 1 && pod.Status.InitContainerStatuses[0].State.Waiting != nil
	})
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	assert.Equal(t, "CrashLoopBackOff", pod.Status.InitContainerStatuses[0].State.Waiting.Reason)
	for _, condition := range pod.Status.Conditions {
		switch condition.Type {
		case corev1.PodInitialized:
			assert.Equal(t, corev1.ConditionTrue, condition.Status)
		case corev1.PodReady:
			assert.Equal(t, "containers with unready status: [sidecar]", condition.Message)
		}
	}
	c.down()
}

// Given a sidecar before an init container that fails permanently, then the pod fails and the
// sidecar ends.
func TestASidecarEndsWithAPodThatFailsToStart(t *testing.T) {
	c := startPrograms(t)
	c.make(`
metadata: {name: web}
spec:
  restartPolicy: Never
  initContainers:
  - {name: sidecar, image: registry.local/shell, restartPolicy: Always, args: [-c, "trap 'exit 0' TERM; while :; do sleep 0.05; done"]}
  - {name: broken, image: registry.local/shell, args: [-c, exit 2]}
  containers: [{name: main, image: registry.local/shell, args: [-c, "sleep 1000"]}]
`, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed && pod.Status.InitContainerStatuses[0].State.Terminated != nil
	})
	c.down()
}

func stateOf(s *corev1.ContainerStatus) string {
	text := "waiting"
	switch {
	case s.State.Running != nil:
		text = "running"
	case s.State.Terminated != nil:
		text = "ended"
	}
	if s.Ready {
		text += " ready"
	}
	return text
}
