package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/image"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/nodeinit"
)

// archive writes an image like docker save: a shell and a few programs of this machine.
func archive(t *testing.T, at string) {
	t.Helper()
	users := filepath.Join(t.TempDir(), "passwd")
	require.NoError(t, os.WriteFile(users, []byte("root:x:0:0::/root:/bin/sh\nweb:x:1000:1000::/home/web:/bin/sh\n"), 0o644))
	files := map[string]string{"/etc/passwd": users}
	for _, name := range []string{"sh", "id", "cat", "ls", "stat", "sleep", "nsenter", "tar"} {
		program, err := exec.LookPath(name)
		require.NoError(t, err)
		files["/bin/"+name] = program
	}
	var out bytes.Buffer
	require.NoError(t, image.Write(&out, runtime.GOARCH, image.Image{Names: []string{"registry.local/tools:1"}, Files: files, Entrypoint: []string{"/bin/sh", "-c"}}))
	require.NoError(t, os.WriteFile(at, out.Bytes(), 0o644))
}

// buildAlone builds a statically linked program.
var buildAlone = sync.OnceValue(func() error {
	command := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", clitest.Binaries, "./testdata/alone")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// alone writes an image with only one file: that program.
func alone(t *testing.T, at string) {
	t.Helper()
	require.NoError(t, buildAlone())
	var out bytes.Buffer
	files := map[string]string{"/alone": filepath.Join(clitest.Binaries, "alone")}
	require.NoError(t, image.Write(&out, runtime.GOARCH, image.Image{Names: []string{"registry.local/alone:1"}, Files: files, Entrypoint: []string{"/alone"}}))
	require.NoError(t, os.WriteFile(at, out.Bytes(), 0o644))
}

// startImages starts a live cluster with images in archives.
func startImages(t *testing.T, flags ...string) *programCluster {
	t.Helper()
	t.Parallel() // the test mostly waits
	return startImagesIn(t, clitest.NewPlace(t, ""), flags...)
}

func startImagesIn(t *testing.T, p *clitest.Place, flags ...string) *programCluster {
	t.Helper()
	if !namespaces.Entered() {
		t.Skip("containers take a mount namespace")
	}
	archive(t, filepath.Join(p.Dir, "tools.tar"))
	alone(t, filepath.Join(p.Dir, "alone.tar"))
	p.Write("cluster.yaml", clitest.Header+`cluster: {nodes: 1}
images: {registry.local/tools: ./tools.tar, registry.local/alone: ./alone.tar}
drivers: [{name: a.example.com, mock: {}}]
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: c, image: "registry.local/other:2"}]}}
`)
	l := startUp(t, append(flags, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)...)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	return &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
}

// A container has the files of its image, its writes are discarded with it, and it runs as the user
// of its pod.
func TestAContainerHasTheRootFileSystemOfItsImage(t *testing.T) {
	c := startImages(t)
	assert.Contains(t, c.output.String(), "Containers of these images are records, which run nothing, since images: does not map them: registry.local/other:2\n")
	var events *corev1.EventList
	require.Eventually(t, func() bool {
		var err error
		events, err = c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Unmapped"})
		return err == nil && len(events.Items) > 0
	}, time.Minute, 20*time.Millisecond)
	require.Len(t, events.Items, 1)
	assert.Equal(t, `other: Container c is a record and runs nothing: no entry of images maps "registry.local/other:2"`, events.Items[0].InvolvedObject.Name+": "+events.Items[0].Message)
	pod := c.make(`
metadata: {name: web}
spec:
  restartPolicy: Never
  hostAliases: [{ip: 10.0.0.7, hostnames: [storage]}]
  volumes: [{name: data, emptyDir: {}}]
  initContainers:
  - name: first
    image: registry.local/tools:1
    args: ["echo x >/written; echo y >/data/kept"]
    volumeMounts: [{name: data, mountPath: /data}]
  containers:
  - name: main
    image: registry.local/tools:1
    args:
    - |
      ls /; cat /data/kept; cat /etc/hosts | while read ip name; do [ "$ip" != 10.0.0.7 ] || echo $name; done
      [ ! -e /written ] && echo none written; echo $HOME $PATH; id -u
      echo enough >/dev/termination-log; exit 3
    volumeMounts: [{name: data, mountPath: /data}]
`, inPhase(corev1.PodFailed))
	ended := pod.Status.ContainerStatuses[0].State.Terminated
	assert.Equal(t, "Error 3 enough\n", ended.Reason+" "+strings.TrimSpace(string(rune('0'+ended.ExitCode)))+" "+ended.Message)
	lines := strings.Split(strings.TrimSpace(c.log("web", corev1.PodLogOptions{Container: "main"})), "\n")
	assert.Subset(t, lines, []string{"bin", "data", "dev", "etc", "proc", "y", "storage", "none written", "/root /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "0"})
	assert.NotContains(t, lines, "home", "nothing of this machine")
	c.down()
}

// A driver mounts the node's /dev to see devices that are created later. A container that mounts
// this /dev read-only still starts, although it cannot create its termination log there. The test
// sets another path for the log, because a sidecar that runs outside of containers may have left a
// file at the usual path.
func TestAContainerMountsTheDevicesOfItsNode(t *testing.T) {
	c := startImages(t)
	pod := c.make(`
metadata: {name: driver}
spec:
  restartPolicy: Never
  volumes: [{name: dev, hostPath: {path: /dev, type: Directory}}]
  containers:
  - name: c
    image: registry.local/tools:1
    args: ["ls /dev; exit 3"]
    terminationMessagePath: /dev/log-of-this-test
    securityContext: {privileged: true}
    volumeMounts: [{name: dev, mountPath: /dev}]
`, inPhase(corev1.PodFailed))
	assert.EqualValues(t, 3, pod.Status.ContainerStatuses[0].State.Terminated.ExitCode, pod.Status.ContainerStatuses[0].State.Terminated.Message)
	devices := strings.Fields(c.log("driver", corev1.PodLogOptions{}))
	assert.Contains(t, devices, "null")
	assert.NotContains(t, devices, "log-of-this-test")
	c.down()
}

// An image needs neither a C library nor a shell. csisim starts only the image's own program inside
// the root file system.
func TestAnImageMayHaveOneProgramAlone(t *testing.T) {
	c := startImages(t)
	c.make(`
metadata: {name: one}
spec:
  restartPolicy: Never
  containers: [{name: main, image: "registry.local/alone:1"}]
`, inPhase(corev1.PodSucceeded))
	assert.Equal(t, "alone\n", c.log("one", corev1.PodLogOptions{Container: "main"}))
	c.down()
}

// Inside the container, id and stat show the security context. A command that is executed in the
// container runs as the same user.
func TestAContainerHasTheSecurityContextOfItsPod(t *testing.T) {
	c := startImages(t, "--unmapped", "refuse")
	require.Eventually(t, func() bool {
		pod, err := c.CoreV1().Pods("default").Get(t.Context(), "other", metav1.GetOptions{})
		return err == nil && len(pod.Status.ContainerStatuses) == 1 &&
			waiting(pod) == `ErrImagePull: failed to pull image "registry.local/other:2": no entry of images maps it, and such images are refused`
	}, time.Minute, 20*time.Millisecond)
	if namespaces.Rootless() {
		t.Skip("an ordinary user has one user only")
	}
	c.make(`
metadata: {name: user}
spec:
  securityContext: {runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, supplementalGroups: [4000], runAsNonRoot: true}
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: c
    image: registry.local/tools:1
    args: ["echo x >/data/file && sleep 1000"]
    volumeMounts: [{name: data, mountPath: /data}]
    securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, inPhase(corev1.PodRunning))
	assert.Equal(t, "1000 3000 3000 2000 4000\n", c.exec("user", "sh", "-c", "echo $(id -u) $(id -g) $(for g in $(id -G); do echo $g; done)"))
	assert.Equal(t, "1000 2000 2777\n", c.exec("user", "sh", "-c", "until [ -s /data/file ]; do :; done; stat -c '%u %g' /data/file | { read u g; echo $u $g $(stat -c %a /data); }"))
	assert.Regexp(t, `^-\S+ 1 web 2000 2 `, c.exec("user", "ls", "-l", "/data/file"), "the image has no name for the group")
	assert.Equal(t, "refused\n", c.exec("user", "sh", "-c", "echo x >/x || echo refused"))
	assert.Regexp(t, `CapBnd:\s+0+\n(?s:.*)NoNewPrivs:\s+1\n`, c.exec("user", "cat", "/proc/self/status"))

	root := c.make(`
metadata: {name: root}
spec:
  securityContext: {runAsNonRoot: true}
  containers: [{name: c, image: registry.local/tools:1}]
`, waits)
	assert.Equal(t, `CreateContainerConfigError: container has runAsNonRoot and image will run as root (pod: "root_default(`+string(root.UID)+`)", container: c)`, waiting(root))
	lost := c.make(`
metadata: {name: lost}
spec: {restartPolicy: Never, containers: [{name: c, image: "registry.local/tools:1", command: [no-such]}]}
`, inPhase(corev1.PodFailed))
	assert.Contains(t, lost.Status.ContainerStatuses[0].State.Terminated.Message, `exec: "no-such": executable file not found in $PATH`)

	assert.Equal(t, "sh\x00-c\x00echo x >/data/file && sleep 1000\x00", strings.TrimPrefix(c.exec("user", "cat", "/proc/1/cmdline"), "/bin/"), "its own process 1")
	c.make(`
metadata: {name: shared}
spec:
  shareProcessNamespace: true
  containers:
  - {name: c, image: "registry.local/tools:1", args: ["sleep 1001"]}
  - {name: d, image: "registry.local/tools:1", args: ["sleep 1002"]}
`, inPhase(corev1.PodRunning))
	assert.Contains(t, c.execIn("shared", "c", "sh", "-c", "cat /proc/[0-9]*/cmdline"), "sleep 1002", "the processes of its neighbour")

	c.make(`
metadata: {name: plugin}
spec:
  hostPID: true
  containers: [{name: c, image: "registry.local/tools:1", args: [sleep 1000], securityContext: {privileged: true}}]
`, inPhase(corev1.PodRunning))
	if !strings.Contains(c.exec("plugin", "cat", "/proc/1/cmdline"), nodeinit.Name) {
		c.down()
		t.Skip("the node has no process namespace of its own: its process 1 is this machine's")
	}
	c.exec("plugin", "nsenter", "-t", "1", "-m", "--", "sh", "-c", "echo x >/var/lib/csisim-test-plugin")
	assert.NoFileExists(t, "/var/lib/csisim-test-plugin", "the node's, not this machine's")
	assert.Equal(t, "x\n", c.exec("plugin", "nsenter", "-t", "1", "-m", "--", "cat", "/var/lib/csisim-test-plugin"))
	c.down()
}

func waits(pod *corev1.Pod) bool {
	return len(pod.Status.ContainerStatuses) == 1 && strings.HasPrefix(waiting(pod), "Create")
}

func waiting(pod *corev1.Pod) string {
	if w := pod.Status.ContainerStatuses[0].State.Waiting; w != nil {
		return w.Reason + ": " + w.Message
	}
	return ""
}

// exec returns the output of a command in a pod's only container.
func (c *programCluster) exec(pod string, command ...string) string {
	c.t.Helper()
	return c.execIn(pod, "", command...)
}

// execIn returns the output of a command in a container of a pod.
func (c *programCluster) execIn(pod, container string, command ...string) string {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(c.t, err)
	out, _ := execute(c.t, config, pod, container, command...)
	return out
}

// execute returns the output of a command in a container of a pod, on both streams.
func execute(t *testing.T, config *rest.Config, pod, container string, command ...string) (stdout, stderr string) {
	t.Helper()
	request := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	require.NoError(t, err)
	var out, errs bytes.Buffer
	require.NoError(t, executor.StreamWithContext(context.WithoutCancel(t.Context()), remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}), "%s", &errs)
	return out.String(), errs.String()
}

// Containers that exhaust a resource end with the same reason as on a real cluster, and their
// neighbours are not affected.
func TestAContainerThatTakesTooMuchDisturbsNoOther(t *testing.T) {
	c := startImages(t)
	c.make(`
metadata: {name: neighbour}
spec: {containers: [{name: c, image: "registry.local/tools:1", args: ["sleep 1000"]}]}
`, inPhase(corev1.PodRunning))
	full := c.make(`
metadata: {name: full}
spec:
  restartPolicy: Never
  containers:
  - name: c
    image: registry.local/tools:1
    args: ["cat /bin/sh >/a; while cat /a /a >/b 2>/dev/termination-log && cat /b /b >/a 2>/dev/termination-log; do :; done; exit 3"]
`, inPhase(corev1.PodFailed))
	assert.Contains(t, full.Status.ContainerStatuses[0].State.Terminated.Message, "No space left on device")
	greedy := c.make(`
metadata: {name: greedy}
spec:
  restartPolicy: Never
  containers:
  - name: c
    image: registry.local/tools:1
    args: ["x=0123456789abcdef; [ $$(cat /proc/self/cgroup | grep -c csisim-) -gt 0 ] || exit 4; while :; do x=$x$x; done"]
    resources: {limits: {memory: 32Mi}}
`, inPhase(corev1.PodFailed))
	// Without control groups the number is 4.
	if end := greedy.Status.ContainerStatuses[0].State.Terminated; end.ExitCode != 4 {
		assert.Equal(t, "OOMKilled", end.Reason)
		assert.EqualValues(t, 137, end.ExitCode)
	}
	assert.Equal(t, "here\n", c.exec("neighbour", "sh", "-c", "echo here"))
	neighbour, err := c.CoreV1().Pods("default").Get(t.Context(), "neighbour", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Zero(t, neighbour.Status.ContainerStatuses[0].RestartCount)
	c.down()
}

// Given containers with limits, when their cluster is killed, then none of their processes remain,
// and csisim clean removes the rest.
func TestContainersOfAKilledClusterLeaveNothing(t *testing.T) {
	c := startImages(t)
	group := ""
	for name, processes := range map[string]string{"own": "hostPID: false", "node": "hostPID: true", "shared": "shareProcessNamespace: true"} {
		c.make(`
metadata: {name: `+name+`}
spec:
  `+processes+`
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: c
    image: registry.local/tools:1
    args: ["cat /proc/self/cgroup; (while sleep 1; do :; done) & sleep 1000"]
    resources: {limits: {memory: 64Mi}}
    volumeMounts: [{name: data, mountPath: /data}]
`, inPhase(corev1.PodRunning))
		require.Eventually(t, func() bool { return c.log(name, corev1.PodLogOptions{}) != "" }, time.Minute, 20*time.Millisecond)
		group = regexp.MustCompile("csisim-[0-9A-Z]{8}-").FindString(c.log(name, corev1.PodLogOptions{}))
	}
	of := &clitest.Place{T: t, Dir: filepath.Dir(c.work), Work: c.work}
	require.NotEmpty(t, of.Programs("sleep"))
	require.NoError(t, c.command.Process.Signal(syscall.SIGKILL))
	c.awaitEnd()
	require.Eventually(t, func() bool { return len(of.Programs("")) == 0 }, time.Minute, 10*time.Millisecond)
	out := clitest.RunIn(t, c.environment(), "clean", "--work-dir", c.work)
	require.Zero(t, out.Code, out.Stderr)
	assert.Empty(t, of.Leftovers())
	if group == "" {
		t.Skip("there are no control groups")
	}
	// Other tests make and remove control groups meanwhile, and clean up after this cluster, too.
	left, err := exec.Command("find", "/sys/fs/cgroup", "-ignore_readdir_race", "-name", group+"*").Output()
	require.NoError(t, err)
	assert.Empty(t, string(left))
}

// An unusable entry in images is reported at the start, with its line.
func TestAFileThatIsNoImageIsAnError(t *testing.T) {
	p := clitest.NewPlace(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "notes.txt"), []byte("no image"), 0o644))
	p.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 1}\nimages:\n  registry.local/x: ./notes.txt\n")
	r := clitest.RunIn(t, nil, "up", "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work, "--kubeconfig", filepath.Join(p.Dir, "config"), "--name", "none")
	assert.NotZero(t, r.Code)
	assert.Contains(t, r.Stderr, "cluster.yaml:5: images: registry.local/x: "+filepath.Join(p.Dir, "notes.txt")+": it is neither a program, nor a directory, nor an archive as docker save writes it: ")
	left, err := os.ReadDir(p.Work)
	require.NoError(t, err)
	assert.Empty(t, left)
}
