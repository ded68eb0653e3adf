package live

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// probedPod is a pod with one container with probes, which runs until it is stopped.
func probedPod(name, probes string) string {
	return fmt.Sprintf(`
metadata: {name: %s}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: registry.local/shell
    args: [-c, "trap 'exit 3' TERM; while :; do sleep 0.05; done"]
    env: [{name: STATE, value: here}]
    volumeMounts: [{name: state, mountPath: /state}]
%s
  volumes: [{name: state, emptyDir: {}}]
`, name, probes)
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (c *programCluster) await(pod string, until func(*corev1.Pod) bool) {
	c.t.Helper()
	var last *corev1.Pod
	require.Eventually(c.t, func() bool {
		found, err := c.CoreV1().Pods("default").Get(c.t.Context(), pod, metav1.GetOptions{})
		last = found
		return err == nil && until(found)
	}, time.Minute, 20*time.Millisecond, "%v", last)
}

// eventsAbout returns the events about a pod, each once.
func (c *programCluster) eventsAbout(pod string) string {
	c.t.Helper()
	events, err := c.CoreV1().Events("default").List(c.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
	require.NoError(c.t, err)
	var all []string
	for _, e := range events.Items {
		all = append(all, e.Reason+" "+e.Message)
	}
	return strings.Join(all, "\n")
}

// The test itself answers the HTTP probes, since the pods share its network.
func TestReadinessFollowsItsProbe(t *testing.T) {
	c := startPrograms(t, "--network", "host")
	var code atomic.Int32
	code.Store(http.StatusServiceUnavailable)
	agents := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case agents <- r.UserAgent() + " " + r.URL.Path + " " + r.Header.Get("X-From"):
		default:
		}
		w.WriteHeader(int(code.Load()))
	}))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	c.make(probedPod("web", fmt.Sprintf(`
    ports: [{name: healthz, containerPort: %d}]
    readinessProbe: {httpGet: {path: /healthz, port: healthz, httpHeaders: [{name: X-From, value: me}]}, periodSeconds: 1}
`, port)), func(pod *corev1.Pod) bool {
		return inPhase(corev1.PodRunning)(pod) && *pod.Status.ContainerStatuses[0].Started && !isReady(pod)
	})
	assert.Equal(t, "kube-probe/1.36 /healthz me", <-agents)
	require.Eventually(t, func() bool {
		return strings.Contains(c.eventsAbout("web"), "Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 503")
	}, time.Minute, 50*time.Millisecond)
	code.Store(http.StatusNoContent)
	c.await("web", isReady)
	code.Store(http.StatusInternalServerError)
	c.await("web", func(pod *corev1.Pod) bool { return !isReady(pod) })
	c.await("web", func(pod *corev1.Pod) bool { return pod.Status.ContainerStatuses[0].RestartCount == 0 })
	c.down()
}

func TestAContainerThatFailsItsLivenessProbeIsRestarted(t *testing.T) {
	c := startPrograms(t, "--network", "host")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	checked := grpc.NewServer()
	state := health.NewServer()
	grpc_health_v1.RegisterHealthServer(checked, state)
	go func() { _ = checked.Serve(listener) }()
	defer checked.Stop()

	// The command has access to the volumes and the environment of its container.
	c.make(probedPod("exec", `
    livenessProbe: {exec: {command: [/bin/sh, -c, 'echo $STATE; test ! -e /state/broken']}, periodSeconds: 1, failureThreshold: 2}
    readinessProbe: {exec: {command: [/no/such/program, -c, 'touch /state/broken']}, initialDelaySeconds: 1, periodSeconds: 2}
`), func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	events := c.eventsAbout("exec")
	assert.Contains(t, events, "Unhealthy Liveness probe failed: here\n")
	assert.Contains(t, events, "Killing Container main failed liveness probe, will be restarted")

	c.make(probedPod("grpc", fmt.Sprintf("    livenessProbe: {grpc: {port: %d}, periodSeconds: 1, failureThreshold: 1}\n", port)), isReady)
	c.make(probedPod("tcp", fmt.Sprintf("    startupProbe: {tcpSocket: {port: %d}, periodSeconds: 1}\n    livenessProbe: {tcpSocket: {port: %d}, periodSeconds: 1, failureThreshold: 1}\n", port, port)), isReady)
	state.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	restarted := func(pod *corev1.Pod) bool { return pod.Status.ContainerStatuses[0].RestartCount > 0 }
	c.await("grpc", restarted)
	assert.Contains(t, c.eventsAbout("grpc"), `Unhealthy Liveness probe failed: service unhealthy (responded with "NOT_SERVING")`)
	c.await("tcp", func(pod *corev1.Pod) bool { return !restarted(pod) })
	checked.Stop()
	c.await("tcp", restarted)
	assert.Contains(t, c.eventsAbout("tcp"), fmt.Sprintf("Unhealthy Liveness probe failed: dial tcp 127.0.0.1:%d: connect: connection refused", port))
	c.down()
}

func TestAContainerThatDoesNotStartInTimeIsRestarted(t *testing.T) {
	c := startPrograms(t)
	c.make(probedPod("slow", `
    startupProbe: {exec: {command: [/bin/sh, -c, sleep 9]}, periodSeconds: 1, failureThreshold: 1}
    readinessProbe: {exec: {command: [/bin/sh, -c, 'exit 0']}, periodSeconds: 1}
`), func(pod *corev1.Pod) bool {
		assert.False(t, isReady(pod))
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	events := c.eventsAbout("slow")
	assert.Contains(t, events, `Unhealthy Startup probe failed: command timed out: "/bin/sh -c sleep 9" timed out after 1s`)
	assert.Contains(t, events, "Killing Container main failed startup probe, will be restarted")
	c.down()
}

func TestHooksRunAfterTheStartAndBeforeTheEnd(t *testing.T) {
	c := startPrograms(t)
	c.make(probedPod("hooked", `
    readinessProbe: {exec: {command: [/bin/sh, -c, 'test -e /state/begun']}, periodSeconds: 1}
    lifecycle:
      postStart: {exec: {command: [/bin/sh, -c, 'touch /state/begun']}}
      preStop: {exec: {command: [/bin/sh, -c, 'test -e /state/begun; exit 1']}}
`), isReady)
	require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), "hooked", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		return strings.Contains(c.eventsAbout("hooked"), "FailedPreStopHook PreStopHook failed")
	}, time.Minute, 50*time.Millisecond)

	c.make(probedPod("lame", "    lifecycle: {postStart: {exec: {command: [/bin/sh, -c, exit 1]}}}\n"), func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	assert.Contains(t, c.eventsAbout("lame"), "FailedPostStartHook PostStartHook failed")
	c.down()
}

// In an accelerated cluster, programs still run at normal speed. A probe's timeout is measured in
// program time: 30 seconds of the cluster are 1.5 seconds for programs.
func TestProbesWaitByTheClockOfPrograms(t *testing.T) {
	c := startPrograms(t, "--speed", "20")
	c.make(probedPod("slow", `
    livenessProbe: {exec: {command: [sleep, "2"]}, periodSeconds: 2, timeoutSeconds: 30, failureThreshold: 1}
    readinessProbe: {exec: {command: [sleep, "2"]}, periodSeconds: 2, timeoutSeconds: 30}`), isReady)
	time.Sleep(time.Second) // twenty seconds of the cluster
	pod, err := c.CoreV1().Pods("default").Get(t.Context(), "slow", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount)
	assert.True(t, isReady(pod))
	c.down()
}
