package live

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withInput runs kubectl with input and returns its output.
func (l *liveCluster) withInput(input string, args ...string) (string, error) {
	kubectl := exec.CommandContext(l.t.Context(), "kubectl", args...)
	kubectl.Env, kubectl.Stdin = append(os.Environ(), l.environment()...), strings.NewReader(input)
	out, err := kubectl.CombinedOutput()
	return early.ReplaceAllString(string(out), ""), err
}

// early matches a message of kubectl. kubectl prints the message if the kubelet's first, empty
// message arrives before kubectl has created its streams.
var early = regexp.MustCompile(`(?m)^E.*Unknown stream id 1, discarding message\n`)

// Common kubectl commands work with pods that run programs.
func TestKubectlReachesPods(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	c := startStreams(t)

	assert.Equal(t, "blue\n", c.kubectl("exec", "web", "-c", "main", "--", "sh", "-c", "echo $COLOR"))
	out, err := c.withInput("one\n", "exec", "-i", "web", "-c", "main", "--", "sh", "-c", "cat; exit 3")
	assert.Equal(t, "one\ncommand terminated with exit code 3\n", out)
	assert.ErrorContains(t, err, "exit status 3")

	sent, back := filepath.Join(c.home, "sent"), filepath.Join(c.home, "back")
	require.NoError(t, os.WriteFile(sent, []byte("content"), 0o600))
	c.kubectl("cp", sent, "web:/data/copied", "-c", "main")
	assert.Equal(t, "content", c.kubectl("exec", "web", "-c", "main", "--", "cat", "/data/copied"))
	c.kubectl("cp", "web:/data/copied", back, "-c", "main")
	text, err := os.ReadFile(back)
	require.NoError(t, err)
	assert.Equal(t, "content", string(text))

	out, err = c.withInput("you\n", "attach", "-i", "talk", "-c", "main", "--quiet")
	require.NoError(t, err, out)
	assert.Contains(t, out, "got you\n")
	c.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/talk", "--timeout=20s")
	assert.Contains(t, c.kubectl("logs", "talk", "--tail=2"), "bye\n", "last of its stream; the other one may come later")
	assert.Contains(t, c.kubectl("logs", "-f", "talk", "--timestamps"), "Z bye\n")

	c.kubectl("debug", "web", "--image=registry.local/shell", "--target=main", "-c", "debug", "--profile=general", "--", "/bin/sh", "-c", "echo looked; exit 7")
	c.kubectl("wait", "--for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=7", "pod/web", "--timeout=20s")
	assert.Equal(t, "looked\n", c.kubectl("logs", "web", "-c", "debug"))
	c.down()
}

// The logs of a restarted container's previous run are available.
func TestKubectlReadsThePreviousLog(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	c := startPrograms(t)
	c.make(`
metadata: {name: again}
spec: {containers: [{name: main, image: registry.local/shell, args: [-c, "echo first; exit 3"]}]}
`, func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	assert.Equal(t, "first\n", c.kubectl("logs", "-p", "again"))
	c.down()
}

// kubectl opens a local port and forwards its traffic to a program of the pod.
func TestKubectlForwardsPorts(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	c := startStreams(t, "--network", "host")
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served ", r.URL.Path) }))
	defer served.Close()
	at, err := url.Parse(served.URL)
	require.NoError(t, err)
	forward := exec.CommandContext(t.Context(), "kubectl", "port-forward", "pod/web", ":"+at.Port())
	forward.Env = append(os.Environ(), c.environment()...)
	said, err := forward.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, forward.Start())
	var port int
	_, err = fmt.Fscanf(said, "Forwarding from 127.0.0.1:%d", &port)
	require.NoError(t, err)
	answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/here", port))
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, "served /here", string(text))
	require.NoError(t, forward.Process.Kill())
	_ = forward.Wait() // it was killed
	c.down()
}

// Given a pod with a limit for its container, when kubectl resizes it, then the kubelet applies the
// new limit, and a forbidden resize is rejected.
func TestKubectlResizesAPod(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	c := startPrograms(t)
	c.make(`
metadata: {name: web}
spec:
  containers:
  - {name: main, image: registry.local/shell, args: [-c, "while :; do sleep 0.1; done"], resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}}
`, inPhase(corev1.PodRunning))
	resize := func(resources string) (string, error) {
		return c.runKubectl("patch", "pod", "web", "--subresource", "resize", "-p", `{"spec":{"containers":[{"name":"main","resources":`+resources+`}]}}`)
	}
	out, err := resize(`{"requests":{"cpu":"200m"},"limits":{"memory":"256Mi"}}`)
	require.NoError(t, err, out)
	assert.Contains(t, out, "pod/web patched")
	require.Eventually(t, func() bool {
		pod, err := c.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
		status := pod.Status.ContainerStatuses[0]
		return err == nil && status.Resources != nil && status.Resources.Limits.Memory().String() == "256Mi" && status.AllocatedResources.Cpu().String() == "200m" && status.RestartCount == 0
	}, time.Minute, 20*time.Millisecond)

	out, err = resize(`{"requests":{"cpu":null,"memory":null},"limits":{"memory":null}}`)
	require.Error(t, err)
	assert.Contains(t, out, "Pod QOS Class may not change as a result of resizing")
	out, err = c.runKubectl("patch", "pod", "web", "-p", `{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"300m"}}}]}}`)
	require.Error(t, err)
	assert.Contains(t, out, "pod updates may not change fields other than", "outside of the subresource")
	assert.Equal(t, "256Mi", c.kubectl("get", "pod", "web", "--subresource=resize", "-o", "jsonpath={.spec.containers[0].resources.limits.memory}"))
	c.down()
}
