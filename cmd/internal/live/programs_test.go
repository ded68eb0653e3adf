package live

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// programCluster is a live cluster in which images named shell are programs.
type programCluster struct {
	*liveCluster
	kubernetes.Interface
	work string
}

func startPrograms(t *testing.T, flags ...string) *programCluster {
	t.Helper()
	if !namespaces.Entered() {
		t.Skip("volumes of programs take a mount namespace")
	}
	t.Parallel() // the test mostly waits
	p := clitest.NewPlace(t, "")
	p.Write("cluster.yaml", clitest.Header+`cluster: {nodes: 1}
images: {registry.local/shell: /bin/sh}
drivers: [{name: a.example.com, mock: {}}]
objects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {size: "3", motd: hello}}
- {apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: secret}}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: a.example.com}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 16Mi}}}
`)
	l := startUp(t, append(flags, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)...)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	return &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
}

// make creates a pod and waits until it meets a condition.
func (c *programCluster) make(manifest string, until func(*corev1.Pod) bool) *corev1.Pod {
	c.t.Helper()
	pod := &corev1.Pod{}
	require.NoError(c.t, yaml.UnmarshalStrict([]byte(manifest), pod))
	_, err := c.CoreV1().Pods("default").Create(c.t.Context(), pod, metav1.CreateOptions{})
	require.NoError(c.t, err)
	require.Eventually(c.t, func() bool {
		pod, err = c.CoreV1().Pods("default").Get(c.t.Context(), pod.Name, metav1.GetOptions{})
		return err == nil && until(pod)
	}, time.Minute, 20*time.Millisecond, "%v", pod)
	return pod
}

func (c *programCluster) log(pod string, options corev1.PodLogOptions) string {
	c.t.Helper()
	stream, err := c.CoreV1().Pods("default").GetLogs(pod, &options).Stream(c.t.Context())
	require.NoError(c.t, err)
	defer stream.Close()
	text, err := io.ReadAll(stream)
	require.NoError(c.t, err)
	return string(text)
}

func (c *programCluster) down() {
	c.t.Helper()
	require.Zero(c.t, clitest.RunIn(c.t, c.environment(), "down").Code)
	assert.Zero(c.t, c.awaitEnd(), c.output.String())
	c.nothingIsLeft()
}

func (c *programCluster) nothingIsLeft() {
	c.t.Helper()
	left, err := os.ReadDir(c.work)
	require.NoError(c.t, err)
	assert.Empty(c.t, left)
}

func inPhase(phase corev1.PodPhase) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool { return pod.Status.Phase == phase }
}

// A container with an image that is mapped to a program runs the program with all settings of its
// pod.
func TestAPodRunsItsPrograms(t *testing.T) {
	c := startPrograms(t)
	pod := c.make(`
metadata: {name: web, labels: {app: web}}
spec:
  restartPolicy: Never
  initContainers:
  - {name: first, image: registry.local/shell, args: [-c, echo prepared > /data/file], volumeMounts: [{name: data, mountPath: /data}]}
  containers:
  - name: main
    image: registry.local/shell:1.2
    command: [/no/such/entrypoint, -c]
    args:
    - |
      echo $(POD) $(SIZE) "$PASSWORD" '$$(POD)' "$motd"
      cat /data/file /etc/settings/motd /made/for/it/password /etc/labels/all
      echo; cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; ls /var/run/secrets/kubernetes.io/serviceaccount
      readlink /etc/settings/motd; cat /one/motd; echo
      touch /etc/settings/x 2>/dev/null || echo read-only
      test -n "$KUBERNETES_SERVICE_HOST" && test -n "$KUBERNETES_SERVICE_PORT" && test -z "$XDG_CACHE_HOME" && echo in-cluster
      exit 0
    env:
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: SIZE, valueFrom: {configMapKeyRef: {name: settings, key: size}}}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: key, key: password}}}
    envFrom: [{configMapRef: {name: settings}}]
    volumeMounts:
    - {name: data, mountPath: /data}
    - {name: settings, mountPath: /etc/settings, readOnly: true}
    - {name: settings, mountPath: /one/motd, subPath: motd}
    - {name: key, mountPath: /made/for/it}
    - {name: labels, mountPath: /etc/labels}
  - {name: record, image: registry.local/web:1}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: settings, configMap: {name: settings}}
  - {name: key, secret: {secretName: key}}
  - {name: labels, downwardAPI: {items: [{path: all, fieldRef: {fieldPath: metadata.labels}}]}}
`, func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 2 && pod.Status.ContainerStatuses[0].State.Terminated != nil
	})
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase, "the record runs on")
	assert.EqualValues(t, 0, pod.Status.ContainerStatuses[0].State.Terminated.ExitCode)
	assert.Equal(t, `web 3 secret $(POD) hello
prepared
hellosecretapp="web"
defaultca.crt
namespace
token
..data/motd
hello
read-only
in-cluster
`, c.log("web", corev1.PodLogOptions{Container: "main"}))
	assert.Equal(t, "in-cluster\n", c.log("web", corev1.PodLogOptions{Container: "main", TailLines: new(int64(1))}))
	assert.Equal(t, "csisim: container record runs no program, so it writes no log (map its image under images, or use csisim up --pull)\n", c.log("web", corev1.PodLogOptions{Container: "record"}))
	c.down()
}

// A container that ends is restarted with back-off; the output of its previous run can still be
// read.
func TestAContainerThatEndsIsRestarted(t *testing.T) {
	c := startPrograms(t)
	pod := c.make(`
metadata: {name: crash}
spec:
  containers: [{name: c, image: registry.local/shell, args: [-c, "echo $$; exit 3"]}]
`, func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].State.Waiting != nil &&
			pod.Status.ContainerStatuses[0].State.Waiting.Reason == "CrashLoopBackOff"
	})
	status := pod.Status.ContainerStatuses[0]
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	assert.EqualValues(t, 1, status.RestartCount, "the first restart comes at once")
	require.NotNil(t, status.LastTerminationState.Terminated)
	assert.EqualValues(t, 3, status.LastTerminationState.Terminated.ExitCode)
	assert.Equal(t, "Error", status.LastTerminationState.Terminated.Reason)
	assert.Contains(t, status.State.Waiting.Message, "back-off 10s restarting failed container=c pod=crash_default(")
	assert.NotEmpty(t, c.log("crash", corev1.PodLogOptions{Previous: true}))

	pod = c.make(`
metadata: {name: once}
spec:
  restartPolicy: OnFailure
  containers: [{name: c, image: registry.local/shell, args: [-c, "exit 0"]}]
`, inPhase(corev1.PodSucceeded))
	assert.Zero(t, pod.Status.ContainerStatuses[0].RestartCount)
	assert.Equal(t, "Completed", pod.Status.ContainerStatuses[0].State.Terminated.Reason)

	pod = c.make(`
metadata: {name: broken}
spec:
  restartPolicy: Never
  containers: [{name: c, image: registry.local/shell, workingDir: /no/such/directory}]
`, inPhase(corev1.PodFailed))
	assert.Equal(t, "StartError", pod.Status.ContainerStatuses[0].State.Terminated.Reason)
	c.down()
}

// A deleted pod gets SIGTERM first, and SIGKILL after its grace period.
func TestADeletedPodMayEndGracefully(t *testing.T) {
	c := startPrograms(t)
	for name, tt := range map[string]struct {
		script string
		last   string
	}{
		"polite":   {`trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done`, "bye\n"},
		"stubborn": {`trap 'echo no' TERM; echo up; while :; do sleep 0.05; done`, "no\n"},
	} {
		c.make(`
metadata: {name: `+name+`}
spec:
  terminationGracePeriodSeconds: 2
  containers: [{name: c, image: registry.local/shell, args: [-c, "`+tt.script+`"]}]
`, inPhase(corev1.PodRunning))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		followed, err := c.CoreV1().Pods("default").GetLogs(name, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
		require.NoError(t, err)
		defer followed.Close()
		began := make([]byte, len("up\n"))
		_, err = io.ReadFull(followed, began)
		require.NoError(t, err)
		require.Equal(t, "up\n", string(began))
		require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
		last, err := io.ReadAll(followed)
		require.NoError(t, err)
		assert.Equal(t, tt.last, string(last))
		require.Eventually(t, func() bool {
			pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
			return err == nil && len(pods.Items) == 0
		}, time.Minute, 20*time.Millisecond)
	}
	c.down()
}

// Programs end with their cluster, also if the cluster is killed.
func TestProgramsEndWithTheirCluster(t *testing.T) {
	shared := t.TempDir()
	c := startPrograms(t, "--host-path", shared)
	mark := filepath.Join(shared, "lives")
	c.make(`
metadata: {name: endless}
spec:
  containers: [{name: c, image: registry.local/shell, args: [-c, "trap '' TERM; while :; do touch `+mark+`; sleep 0.05; done"]}]
`, inPhase(corev1.PodRunning))
	require.Eventually(t, func() bool { _, err := os.Stat(mark); return err == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, c.command.Process.Signal(syscall.SIGKILL))
	c.awaitEnd()
	require.Eventually(t, func() bool {
		if os.Remove(mark) != nil {
			return false
		}
		time.Sleep(300 * time.Millisecond)
		_, err := os.Stat(mark)
		return os.IsNotExist(err)
	}, time.Minute, 10*time.Millisecond)
	require.Zero(t, clitest.RunIn(t, c.environment(), "clean", "--work-dir", c.work).Code)
	c.nothingIsLeft()
}

// A program can use the API with the token of its service account, and with a requested token.
func TestAProgramIsItsServiceAccount(t *testing.T) {
	c := startPrograms(t)
	_, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	pod := c.make(`
metadata: {name: web}
spec:
  serviceAccountName: robot
  restartPolicy: Never
  containers:
  - name: main
    image: registry.local/shell
    args: [-c, "cat /var/run/secrets/kubernetes.io/serviceaccount/token; echo; cat /tokens/own; echo; cat /tokens/vault; echo"]
    volumeMounts: [{name: tokens, mountPath: /tokens}]
  volumes:
  - name: tokens
    projected:
      sources:
      - serviceAccountToken: {path: own, expirationSeconds: 600}
      - serviceAccountToken: {path: vault, audience: vault}
`, inPhase(corev1.PodSucceeded))
	tokens := strings.Fields(c.log("web", corev1.PodLogOptions{}))
	require.Len(t, tokens, 3)
	for _, token := range tokens[:2] {
		who, err := c.as(token).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "system:serviceaccount:default:robot", who.Status.UserInfo.Username)
		assert.Equal(t, authenticationv1.ExtraValue{"web"}, who.Status.UserInfo.Extra["authentication.kubernetes.io/pod-name"])
		assert.Equal(t, authenticationv1.ExtraValue{string(pod.UID)}, who.Status.UserInfo.Extra["authentication.kubernetes.io/pod-uid"])
		_, err = c.as(token).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		assert.NoError(t, err, "there is no RBAC")
	}
	_, err = c.as(tokens[2]).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
	review, err := c.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: tokens[2], Audiences: []string{"vault"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.True(t, review.Status.Authenticated, review.Status.Error)

	if _, err := exec.LookPath("kubectl"); err == nil {
		created := c.kubectl("create", "token", "robot", "--duration=10m")
		assert.Contains(t, c.kubectl("auth", "whoami", "--token="+strings.TrimSpace(created)), "system:serviceaccount:default:robot")
	}
	c.down()
}

// as returns a client with another token.
func (c *programCluster) as(token string) kubernetes.Interface {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(c.t, err)
	config.BearerToken = token
	return kubernetes.NewForConfigOrDie(config)
}

// A token that expires is renewed when most of its lifetime has passed.
func TestTokensInVolumesAreRenewed(t *testing.T) {
	c := startPrograms(t, "--speed", "1000")
	c.make(`
metadata: {name: web}
spec:
  containers:
  - name: main
    image: registry.local/shell
    args: [-c, "while :; do echo own $(cat /tokens/own); echo account $(cat /var/run/secrets/kubernetes.io/serviceaccount/token); sleep 0.2; done"]
    volumeMounts: [{name: tokens, mountPath: /tokens}]
  volumes: [{name: tokens, projected: {sources: [{serviceAccountToken: {path: own, expirationSeconds: 600}}]}}]
`, inPhase(corev1.PodRunning))
	require.Eventually(t, func() bool {
		seen := map[string]map[string]bool{"own": {}, "account": {}}
		for line := range strings.Lines(c.log("web", corev1.PodLogOptions{})) {
			if whose, token, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Count(token, ".") == 2 {
				seen[whose][token] = true
			}
		}
		return len(seen["own"]) >= 3 && len(seen["account"]) >= 2
	}, time.Minute, 100*time.Millisecond)
	c.down()
}

// A long-running live cluster keeps no logs of deleted pods.
func TestTheLogsOfDeletedPodsAreRemoved(t *testing.T) {
	c := startPrograms(t)
	logs := func() []string {
		found, err := filepath.Glob(filepath.Join(c.work, "csisim-*", "logs", "default_*"))
		require.NoError(t, err)
		return found
	}
	for i := range 3 {
		name := fmt.Sprintf("web-%d", i)
		c.make(fmt.Sprintf(`
metadata: {name: %s}
spec:
  restartPolicy: Never
  containers: [{name: main, image: registry.local/shell, args: ["-c", "echo out"]}]
`, name), inPhase(corev1.PodSucceeded))
		require.NotEmpty(t, logs())
		assert.Equal(t, "out\n", c.log(name, corev1.PodLogOptions{}), "a pod that has ended has its log")
		require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
		require.Eventually(t, func() bool { return len(logs()) == 0 }, time.Minute, 20*time.Millisecond)
	}
	c.down()
}
