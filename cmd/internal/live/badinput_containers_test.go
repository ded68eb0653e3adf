package live

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/image"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// broken writes images with programs that cannot be started, and returns their entries for images:.
func broken(t *testing.T, dir string) (entries string) {
	t.Helper()
	script := filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/no/such\n"), 0o755))
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("no program"), 0o755))
	images := map[string]image.Image{
		"script":  {Files: map[string]string{"/script": script}, Entrypoint: []string{"/script"}},
		"text":    {Files: map[string]string{"/text": text}, Entrypoint: []string{"/text"}},
		"missing": {Files: map[string]string{"/text": text}, Entrypoint: []string{"/no/such"}},
		"none":    {Files: map[string]string{"/text": text}},
	}
	for name, i := range images {
		i.Names = []string{"registry.local/" + name + ":1"}
		var out bytes.Buffer
		require.NoError(t, image.Write(&out, runtime.GOARCH, i))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".tar"), out.Bytes(), 0o644))
		entries += "\n  registry.local/" + name + ": ./" + name + ".tar"
	}
	return entries
}

// startBroken starts a live cluster with these images and one image with a shell.
func startBroken(t *testing.T) *streamsCluster {
	t.Helper()
	if !namespaces.Entered() {
		t.Skip("containers take a mount namespace")
	}
	t.Parallel() // the test mostly waits
	p := clitest.NewPlace(t, "")
	archive(t, filepath.Join(p.Dir, "tools.tar"))
	p.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 1}\nimages:\n  registry.local/tools: ./tools.tar"+broken(t, p.Dir)+"\n")
	l := startUp(t, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	return &streamsCluster{&programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}, config}
}

// A program that cannot be started ends its container with the system's error, whichever process
// namespace the container uses.
func TestAContainerWhoseProgramCannotStartSaysWhy(t *testing.T) {
	c := startBroken(t)
	for image, says := range map[string]string{
		"script":  "fork/exec /script: no such file or directory", // its interpreter
		"text":    "fork/exec /text: exec format error",
		"missing": `exec: "/no/such": no such file or directory`,
	} {
		for _, host := range []string{"false", "true"} {
			pod := c.make(`
metadata: {name: `+image+"-"+host+`}
spec: {restartPolicy: Never, hostPID: `+host+`, containers: [{name: c, image: "registry.local/`+image+`:1"}]}
`, inPhase(corev1.PodFailed))
			end := pod.Status.ContainerStatuses[0].State.Terminated
			assert.Equal(t, "StartError", end.Reason)
			assert.EqualValues(t, 128, end.ExitCode)
			assert.Contains(t, end.Message, says, pod.Name)
		}
	}
	none := c.make(`
metadata: {name: none}
spec: {containers: [{name: c, image: "registry.local/none:1"}]}
`, waits)
	assert.Contains(t, waiting(none), "no command specified")
	c.down()
}

// waitingPod is a pod that only waits.
const waitingPod = `
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: "registry.local/tools:1", args: ["sleep 1000"]}]
`

// relay forwards connections to a server until cut drops them.
type relay struct {
	net.Listener
	lock sync.Mutex
	open []net.Conn
}

func startRelay(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{Listener: listener}
	go func() {
		for {
			client, err := r.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				return
			}
			r.lock.Lock()
			r.open = append(r.open, client, to)
			r.lock.Unlock()
			go func() { _, _ = io.Copy(client, to) }()
			go func() { _, _ = io.Copy(to, client) }()
		}
	}()
	return r
}

// cut ends all connections.
func (r *relay) cut() {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, conn := range r.open {
		_ = conn.Close()
	}
}

// When a client with a terminal disconnects, its command ends, and the container is not affected.
func TestACommandWhoseTerminalDisappearsEnds(t *testing.T) {
	c := startBroken(t)
	c.make(waitingPod, inPhase(corev1.PodRunning))
	for by, executor := range executors {
		o := shell("echo ready; while sleep 0.05; do :; done")
		o.TTY, o.Stdin, o.Stdout = true, true, true
		at := c.at("web", "exec", &o)
		r := startRelay(t, at.Host)
		at.Host = r.Addr().String()
		e, err := executor(c.config, at)
		require.NoError(t, err)
		out, wrote := io.Pipe()
		input, _ := io.Pipe()
		go func() {
			_ = e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: input, Stdout: wrote, Tty: true})
		}()
		_, err = io.ReadFull(out, make([]byte, len("ready")))
		require.NoError(t, err)
		go func() { _, _ = io.Copy(io.Discard, out) }()
		assert.Contains(t, c.commands("web"), "echo ready", by)
		require.NoError(t, r.Close())
		r.cut()
		require.Eventually(t, func() bool { return !strings.Contains(c.commands("web"), "echo ready") }, time.Minute, 50*time.Millisecond, by)
	}
	pod, err := c.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount)
	c.down()
}

// commands returns the command lines of all processes that are visible in a pod's container.
func (c *streamsCluster) commands(pod string) string {
	c.t.Helper()
	return c.execIn(pod, "main", "sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null; :")
}

// A thousand simultaneous clients are served, and all of their resources are released.
func TestAThousandCommandsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds of two processors")
	}
	c := startBroken(t)
	c.make(waitingPod, inPhase(corev1.PodRunning))
	var done sync.WaitGroup
	results := make(chan error, 1000)
	for range cap(results) {
		done.Go(func() {
			out, _, err := c.runFor(2*time.Minute, "WebSocket", "web", "", shell("echo here"))
			if err == nil && out != "here\n" {
				err = io.ErrUnexpectedEOF
			}
			results <- err
		})
	}
	done.Wait()
	close(results)
	for err := range results {
		require.NoError(t, err)
	}
	assert.NotContains(t, c.commands("web"), "echo here")
	c.down()
}

// A container that has ended executes no command.
func TestACommandInAContainerThatIsGone(t *testing.T) {
	c := startBroken(t)
	c.make(`
metadata: {name: over}
spec: {restartPolicy: Never, containers: [{name: main, image: "registry.local/tools:1", args: [":"]}]}
`, inPhase(corev1.PodSucceeded))
	for by := range executors {
		_, _, err := c.run(by, "over", "", shell("true"))
		assert.ErrorContains(t, err, `container not found ("main")`, by)
		_, _, err = c.run(by, "never", "", shell("true"))
		assert.ErrorContains(t, err, `pods "never" not found`, by)
	}
	c.make(waitingPod, inPhase(corev1.PodRunning))
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.run("WebSocket", "web", "", shell("while sleep 0.05; do :; done"))
		ended <- err
	}()
	require.Eventually(t, func() bool { return strings.Contains(c.commands("web"), "while sleep 0.05") }, time.Minute, 50*time.Millisecond)
	require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	assert.ErrorContains(t, <-ended, "137", "it is killed with its container")
	c.down()
}
