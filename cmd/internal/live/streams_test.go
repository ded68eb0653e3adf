package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// streamsPods are a pod with a waiting container and a record, and a pod that answers each input
// line.
var streamsPods = []string{`
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: registry.local/shell
    args: [-c, "touch /data/ready; while :; do sleep 0.1; done"]
    workingDir: /data
    env: [{name: COLOR, value: blue}]
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: record, image: registry.local/web:1}
  volumes: [{name: data, emptyDir: {}}]
`, `
metadata: {name: talk}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  containers: [{name: main, image: registry.local/shell, stdin: true, stdinOnce: true, args: [-c, "while read line; do echo got $line; echo not $line >&2; done; echo bye"]}]
`}

// executors are the ways in which clients open a connection with several streams.
var executors = map[string]func(*rest.Config, *url.URL) (remotecommand.Executor, error){
	"SPDY": func(config *rest.Config, at *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewSPDYExecutor(config, http.MethodPost, at)
	},
	"WebSocket": func(config *rest.Config, at *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(config, http.MethodGet, at.String())
	},
}

// streamsCluster is a live cluster with these pods.
type streamsCluster struct {
	*programCluster
	config *rest.Config
}

func startStreams(t *testing.T, flags ...string) *streamsCluster {
	c := startPrograms(t, flags...)
	for _, pod := range streamsPods {
		c.make(pod, inPhase(corev1.PodRunning))
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	return &streamsCluster{c, config}
}

func (c *streamsCluster) at(pod, subresource string, options *corev1.PodExecOptions) *url.URL {
	request := c.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource(subresource)
	return request.VersionedParams(options, scheme.ParameterCodec).URL()
}

// run runs a command with an input, and returns its output on both streams.
func (c *streamsCluster) run(by, pod, input string, o corev1.PodExecOptions) (out, errs string, err error) {
	return c.runFor(20*time.Second, by, pod, input, o)
}

// runFor runs a command that may take as long as patience.
func (c *streamsCluster) runFor(patience time.Duration, by, pod, input string, o corev1.PodExecOptions) (out, errs string, err error) {
	o.Stdin, o.Stdout, o.Stderr = input != "", true, !o.TTY
	subresource := "exec"
	if o.Command == nil {
		subresource = "attach"
	}
	executor, err := executors[by](c.config, c.at(pod, subresource, &o))
	if err != nil {
		return "", "", err
	}
	var stdout, stderr bytes.Buffer
	streams := remotecommand.StreamOptions{Stdout: &stdout, Stderr: &stderr, Tty: o.TTY}
	if o.TTY {
		streams.Stderr = nil
		streams.TerminalSizeQueue = &oneSize{Width: 100, Height: 40}
	}
	if input != "" {
		streams.Stdin = strings.NewReader(input)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	err = executor.StreamWithContext(ctx, streams)
	return stdout.String(), stderr.String(), err
}

// oneSize is the size of a terminal that is never resized.
type oneSize remotecommand.TerminalSize

func (s *oneSize) Next() *remotecommand.TerminalSize {
	if s.Width == 0 {
		return nil
	}
	size := remotecommand.TerminalSize(*s)
	*s = oneSize{}
	return &size
}

func shell(script string) corev1.PodExecOptions {
	return corev1.PodExecOptions{Container: "main", Command: []string{"sh", "-c", script}}
}

// Commands run in the container, with its volumes, environment and directory and with the streams
// of the client. Their exit code is returned to the client.
func TestCommandsRunInContainers(t *testing.T) {
	c := startStreams(t)
	for by := range executors {
		t.Run(by, func(t *testing.T) {
			out, errs, err := c.run(by, "web", "", shell("ls; pwd; echo $COLOR; echo oops >&2"))
			require.NoError(t, err)
			assert.Equal(t, "ready\n/data\nblue\n", out)
			assert.Equal(t, "oops\n", errs)

			_, _, err = c.run(by, "web", "", shell("exit 3"))
			var ended exec.CodeExitError
			require.ErrorAs(t, err, &ended)
			assert.Equal(t, 3, ended.Code)

			out, _, err = c.run(by, "web", "one\ntwo\n", shell("cat; echo end of input"))
			require.NoError(t, err)
			assert.Equal(t, "one\ntwo\nend of input\n", out)

			large := strings.Repeat("0123456789abcdef", 1<<16)
			out, _, err = c.run(by, "web", large, shell("cat"))
			require.NoError(t, err)
			assert.True(t, out == large, "%d of %d bytes", len(out), len(large))

			terminal := shell("sleep 0.3; stty size; test -t 0 && test -t 2 && echo $TERM")
			terminal.TTY = true
			out, _, err = c.run(by, "web", "", terminal)
			require.NoError(t, err)
			assert.Equal(t, "40 100\r\nxterm\r\n", out)

			for name, try := range map[string]struct {
				pod     string
				options corev1.PodExecOptions
				says    string
			}{
				"no such pod":       {"nobody", shell("true"), `pods "nobody" not found`},
				"no such container": {"web", corev1.PodExecOptions{Container: "other", Command: []string{"true"}}, "container other is not valid for pod web"},
				"which container":   {"web", corev1.PodExecOptions{Command: []string{"true"}}, "a container name must be specified for pod web, choose one of: [main record]"},
				"a record":          {"web", corev1.PodExecOptions{Container: "record", Command: []string{"true"}}, "container record of pod web runs no program (map its image under images, or use csisim up --pull)"},
				"no such program":   {"web", corev1.PodExecOptions{Container: "main", Command: []string{"nosuch"}}, "executable file not found in $PATH"},
				"no such path":      {"web", corev1.PodExecOptions{Container: "main", Command: []string{"/no/such"}}, "no such file or directory"},
			} {
				_, _, err := c.run(by, try.pod, "", try.options)
				assert.ErrorContains(t, err, try.says, name)
			}
		})
	}
	// The mounts of a command are visible in the container, and its leftover processes end with the
	// container.
	if os.Geteuid() == 0 {
		_, _, err := c.run("SPDY", "web", "", shell("mkdir -p /tmp/here && mount -t tmpfs made /tmp/here && touch /tmp/here/file; sleep 60 >/dev/null 2>&1 &"))
		require.NoError(t, err)
		out, _, err := c.run("WebSocket", "web", "", shell("ls /tmp/here"))
		require.NoError(t, err)
		assert.Equal(t, "file\n", out)
	}
	c.down()
	assert.NotContains(t, c.output.String(), "Error on socket receive", "connections that clients break off")
}

// A client that attaches to a container reads its output and writes its input.
func TestClientsAttachToContainers(t *testing.T) {
	c := startStreams(t)
	out, errs, err := c.run("WebSocket", "talk", "you\nme\n", corev1.PodExecOptions{Container: "main"})
	require.NoError(t, err)
	assert.Equal(t, "got you\ngot me\nbye\n", out, "its input ended with the client's")
	assert.Equal(t, "not you\nnot me\n", errs)
	require.Eventually(t, func() bool {
		pod, err := c.CoreV1().Pods("default").Get(t.Context(), "talk", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodSucceeded
	}, time.Minute, 20*time.Millisecond)
	assert.Contains(t, c.log("talk", corev1.PodLogOptions{}), "got me\n")
	_, _, err = c.run("SPDY", "talk", "late", corev1.PodExecOptions{Container: "main"})
	assert.ErrorContains(t, err, `container not found ("main")`)
	c.down()
}

// An ephemeral container is added to a running pod, and is reached like the other containers.
func TestEphemeralContainersAreAddedToPods(t *testing.T) {
	c := startStreams(t)
	pods := c.CoreV1().Pods("default")
	pod, err := pods.Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{TargetContainerName: "main", EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "registry.local/shell", Args: []string{"-c", "cat; exit 7"}, Stdin: true, StdinOnce: true,
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/looked/at"}},
	}}}
	_, err = pods.UpdateEphemeralContainers(t.Context(), "web", pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	debug := func(is func(corev1.ContainerState) bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			pod, err = pods.Get(t.Context(), "web", metav1.GetOptions{})
			return err == nil && len(pod.Status.EphemeralContainerStatuses) == 1 && is(pod.Status.EphemeralContainerStatuses[0].State)
		}, time.Minute, 20*time.Millisecond)
	}
	debug(func(s corev1.ContainerState) bool { return s.Running != nil })
	command := corev1.PodExecOptions{Container: "debug", Command: []string{"ls", "/looked/at"}}
	out, _, err := c.run("WebSocket", "web", "", command)
	require.NoError(t, err)
	assert.Equal(t, "ready\n", out, "it has the pod's volumes")
	out, _, err = c.run("SPDY", "web", "said\n", corev1.PodExecOptions{Container: "debug"})
	require.NoError(t, err)
	assert.Equal(t, "said\n", out)
	debug(func(s corev1.ContainerState) bool { return s.Terminated != nil && s.Terminated.ExitCode == 7 })
	assert.Equal(t, "said\n", c.log("web", corev1.PodLogOptions{Container: "debug"}))
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase, "the pod does without it")
	c.down()
}

// A port of a pod is reached through the API.
func TestPortsAreForwarded(t *testing.T) {
	c := startStreams(t, "--network", "host")
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served ", r.URL.Path) }))
	defer served.Close()
	at, err := url.Parse(served.URL)
	require.NoError(t, err)
	target := c.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name("web").SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(c.config)
	require.NoError(t, err)
	tunnel, err := portforward.NewSPDYOverWebsocketDialerForStreaming(target, c.config)
	require.NoError(t, err)
	for by, dialer := range map[string]httpstream.Dialer{
		"SPDY": spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, target), "WebSocket": tunnel,
	} {
		stop, ready := make(chan struct{}), make(chan struct{})
		forwarder, err := portforward.NewForStreaming(dialer, []string{"0:" + at.Port()}, stop, ready, io.Discard, io.Discard)
		require.NoError(t, err, by)
		ended := make(chan error, 1)
		go func() { ended <- forwarder.ForwardPorts() }()
		select {
		case <-ready:
		case err := <-ended:
			require.NoError(t, err, by)
		}
		ports, err := forwarder.GetPorts()
		require.NoError(t, err, by)
		for _, path := range []string{"/one", "/two"} {
			answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", ports[0].Local, path))
			require.NoError(t, err, by)
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err, by)
			require.NoError(t, answer.Body.Close())
			assert.Equal(t, "served "+path, string(text), by)
		}
		close(stop)
		require.NoError(t, <-ended, by)
	}
	c.down()
}

// A request that a client sends to a port of a pod reaches the server there, without the client's
// token.
func TestRequestsArePassedOnToPods(t *testing.T) {
	c := startStreams(t, "--network", "host")
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		body, _ := io.ReadAll(r.Body) // the data is empty or short
		fmt.Fprint(w, r.Method, " ", r.URL, " ", string(body), r.Header.Get("Authorization"))
	}))
	at, err := url.Parse(served.URL)
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(c.config)
	require.NoError(t, err)
	ask := func(method, pod, path, body string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, c.config.Host+"/api/v1/namespaces/default/pods/"+pod+"/proxy"+path, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := client.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(text)
	}
	for _, name := range []string{"web:" + at.Port(), "http:web:" + at.Port()} {
		code, text := ask(http.MethodGet, name, "/some/path?a=b", "")
		assert.Equal(t, http.StatusTeapot, code)
		assert.Equal(t, "GET /some/path?a=b ", text)
	}
	_, text := ask(http.MethodPost, "web:"+at.Port(), "/", "sent")
	assert.Equal(t, "POST / sent", text)
	served.Close()
	for _, try := range []struct {
		name, says string
		code       int
	}{
		{"web:" + at.Port(), "error trying to reach service: dial tcp 127.0.0.1:" + at.Port() + ": connect: connection refused", http.StatusServiceUnavailable},
		{"nobody:80", `pods \"nobody\" not found`, http.StatusNotFound},
		{"a:web:80:90", `invalid pod request \"a:web:80:90\"`, http.StatusBadRequest},
	} {
		code, text := ask(http.MethodGet, try.name, "/", "")
		assert.Equal(t, try.code, code, try.name)
		assert.Contains(t, text, try.says)
	}
	c.down()
}

// Parts of logs can be read, and a wrong request is rejected as by the real server.
func TestLogsAreReadInPart(t *testing.T) {
	c := startPrograms(t)
	c.make(`
metadata: {name: web}
spec:
  restartPolicy: Never
  containers: [{name: main, image: registry.local/shell, args: [-c, "echo one; sleep 2; echo two; echo three"]}]
`, inPhase(corev1.PodSucceeded))
	stamped := strings.Fields(c.log("web", corev1.PodLogOptions{Timestamps: true, TailLines: new(int64(2))}))
	require.Len(t, stamped, 4)
	written, err := time.Parse(time.RFC3339Nano, stamped[0])
	require.NoError(t, err)
	assert.Equal(t, "two\nthree\n", c.log("web", corev1.PodLogOptions{SinceTime: &metav1.Time{Time: written.Add(-time.Second)}}))
	assert.Equal(t, "three\n", c.log("web", corev1.PodLogOptions{SinceTime: &metav1.Time{Time: written.Add(-time.Second)}, TailLines: new(int64(1))}))
	assert.Equal(t, "one\ntwo\nthree\n", c.log("web", corev1.PodLogOptions{SinceSeconds: new(int64(3600))}))
	assert.Equal(t, "one\nt", c.log("web", corev1.PodLogOptions{LimitBytes: new(int64(5)), Follow: true}))
	for query, says := range map[string]string{
		"tailLines=-1":                  `PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0`,
		"limitBytes=0":                  "limitBytes: Invalid value: 0: must be greater than 0",
		"sinceSeconds=0":                "sinceSeconds: Invalid value: 0: must be greater than 0",
		"sinceSeconds=1&sinceTime=2026": "parsing time",
		"sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z": "at most one of `sinceTime` or `sinceSeconds` may be specified",
		"tailLines=x":    `strconv.ParseInt: parsing "x": invalid syntax`,
		"stream=Stdout":  "stream: Forbidden: may not be specified",
		"container=nope": "container nope is not valid for pod web",
		"previous=true":  `previous terminated container "main" in pod "web" not found`,
	} {
		err := c.CoreV1().RESTClient().Get().RequestURI("/api/v1/namespaces/default/pods/web/log?" + query).Do(t.Context()).Error()
		assert.ErrorContains(t, err, says, query)
	}
	c.down()
}
