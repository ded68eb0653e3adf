package live

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// liveCluster is csisim up as a process with its own home directory.
type liveCluster struct {
	t       *testing.T
	home    string
	command *exec.Cmd
	output  bytes.Buffer
}

func startUp(t *testing.T, args ...string) *liveCluster {
	t.Helper()
	l := &liveCluster{t: t, home: t.TempDir()}
	l.command = clitest.Command(t.Context(), l.environment(), append([]string{"up"}, args...)...)
	l.command.Stdout, l.command.Stderr = &l.output, &l.output
	require.NoError(t, l.command.Start())
	t.Cleanup(func() { _ = l.command.Process.Kill() }) // most tests have stopped it
	require.Eventually(t, func() bool { _, err := os.Stat(l.state()); return err == nil }, time.Minute, 5*time.Millisecond)
	return l
}

func (l *liveCluster) environment() []string {
	return []string{"HOME=" + l.home, "XDG_CACHE_HOME=" + l.home, "KUBECONFIG=" + l.kubeconfig()}
}

func (l *liveCluster) kubeconfig() string { return filepath.Join(l.home, "config") }
func (l *liveCluster) state() string      { return filepath.Join(l.home, "csisim", "up", "csisim.json") }

func (l *liveCluster) awaitEnd() int {
	_ = l.command.Wait() // the output shows the result
	return l.command.ProcessState.ExitCode()
}

func TestUpServesKubectlAndLeavesNothingBehind(t *testing.T) {
	l := startUp(t)
	config, err := clientcmd.LoadFromFile(l.kubeconfig())
	require.NoError(t, err)
	assert.Equal(t, "csisim", config.CurrentContext)
	require.Contains(t, config.Clusters, "csisim")
	assert.True(t, strings.HasPrefix(config.Clusters["csisim"].Server, "https://127.0.0.1:"), config.Clusters["csisim"].Server)

	got := clitest.RunIn(t, l.environment(), "get", "kubeconfig")
	require.Zero(t, got.Code, got.Stderr)
	same, err := clientcmd.Load([]byte(got.Stdout))
	require.NoError(t, err)
	assert.Equal(t, config.AuthInfos["csisim"].Token, same.AuthInfos["csisim"].Token)

	second := clitest.RunIn(t, l.environment(), "up")
	assert.Equal(t, clitest.ExitInput, second.Code)
	assert.Contains(t, second.Stderr, `cluster "csisim" is up already`)

	down := clitest.RunIn(t, l.environment(), "down")
	require.Zero(t, down.Code, down.Stderr)
	assert.Zero(t, l.awaitEnd(), l.output.String())
	assert.Regexp(t, `See it in a browser: http://127\.0\.0\.1:[0-9]+/\?token=[0-9a-f]{32}\n`, l.output.String())
	assert.NotContains(t, l.output.String(), same.AuthInfos["csisim"].Token, "the page has a token of its own")
	assert.NoFileExists(t, l.state())
	assert.NoFileExists(t, l.kubeconfig(), "there was none before")

	again := clitest.RunIn(t, l.environment(), "down")
	assert.Equal(t, clitest.ExitInput, again.Code)
	assert.Contains(t, again.Stderr, `cluster "csisim" is not up`)
}

// Clients compute ages by their own clocks, and kubectl describe shows <invalid> for times in the
// future.
func TestUpCreatesNoObjectWithAFutureTime(t *testing.T) {
	l := startUp(t)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	made, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.False(t, made.CreationTimestamp.After(time.Now()), "made at %v", made.CreationTimestamp)
	assert.WithinDuration(t, time.Now(), made.CreationTimestamp.Time, time.Minute)
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}

func TestUpShowsExternalSidecarsWhereTheDriversAre(t *testing.T) {
	p := clitest.NewPlace(t, "")
	p.Write("cluster.yaml", clitest.Header+`cluster: {nodes: 1}
drivers: [{name: a.example.com, mock: {}, external: [csi-attacher, node-driver-registrar]}]
`)
	work, file := p.Work, filepath.Join(p.Dir, "cluster.yaml")
	l := startUp(t, "-f", file, "--work-dir", work)

	sockets := clitest.RunIn(t, l.environment(), "get", "sockets")
	require.Zero(t, sockets.Code, sockets.Stderr)
	assert.Regexp(t, `^a.example.com  control-plane  `+work+`/\S+/csi.sock\na.example.com  node-a +`+work+`/\S+/csi.sock\n$`, sockets.Stdout)
	for line := range strings.Lines(sockets.Stdout) {
		connection, err := net.Dial("unix", strings.Fields(line)[2])
		require.NoError(t, err)
		require.NoError(t, connection.Close())
	}
	directories := clitest.RunIn(t, l.environment(), "get", "directories")
	require.Zero(t, directories.Code, directories.Stderr)
	node := strings.Fields(directories.Stdout)
	require.Len(t, node, 2)
	assert.Equal(t, "node-a", node[0])
	registered, err := os.ReadDir(filepath.Join(node[1], "plugins_registry"))
	require.NoError(t, err)
	assert.Empty(t, registered)

	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
	left, err := os.ReadDir(work)
	require.NoError(t, err)
	assert.Empty(t, left)

	run := clitest.RunIn(t, l.environment(), "run", file)
	assert.Equal(t, clitest.ExitInput, run.Code)
	assert.Contains(t, run.Stderr, "use csisim up -f "+file)
}

// A cluster in memory has neither sockets nor directories.
func TestUpInMemoryHasNoSockets(t *testing.T) {
	l := startUp(t)
	for _, what := range []string{"sockets", "directories"} {
		got := clitest.RunIn(t, l.environment(), "get", what)
		assert.Equal(t, clitest.ExitInput, got.Code)
		assert.Contains(t, got.Stderr, `cluster "csisim" is in memory`)
	}
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}

func TestUpRunsOneCluster(t *testing.T) {
	p := clitest.NewPlace(t, "")
	p.Write("pair.yaml", clitest.Header+"clusters: [west, east]\nsteps: [{settle: {}}]\n")
	got := clitest.Run(t, "up", "-f", filepath.Join(p.Dir, "pair.yaml"))
	assert.Equal(t, clitest.ExitInput, got.Code)
	assert.Contains(t, got.Stderr, "pair.yaml: clusters: csisim up lives one cluster, and the scenario has 2 (west, east): csisim run runs it")
}

func TestUpKeepsOtherEntriesOfTheKubeconfig(t *testing.T) {
	home := t.TempDir()
	const other = "apiVersion: v1\nkind: Config\ncurrent-context: work\ncontexts:\n- name: work\n  context: {cluster: work, user: me}\nclusters:\n- name: work\n  cluster: {server: 'https://work.example.com'}\nusers:\n- name: me\n  user: {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "config"), []byte(other), 0o600))
	l := &liveCluster{t: t, home: home}
	l.command = clitest.Command(t.Context(), l.environment(), "up")
	require.NoError(t, l.command.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(l.state()); return err == nil }, time.Minute, 5*time.Millisecond)
	require.NoError(t, l.command.Process.Signal(syscall.SIGINT))
	l.awaitEnd()
	config, err := clientcmd.LoadFromFile(l.kubeconfig())
	require.NoError(t, err)
	assert.Len(t, config.Contexts, 1)
	assert.Contains(t, config.Clusters, "work")
}

// When the terminal of a cluster is closed, the cluster ends and leaves nothing behind. If the
// command ignores SIGHUP, as under nohup, it keeps running.
func TestUpEndsWithItsTerminal(t *testing.T) {
	clitest.NeedsSignal(t, syscall.SIGHUP)
	l := startUp(t)
	require.NoError(t, l.command.Process.Signal(syscall.SIGHUP))
	assert.Equal(t, 129, l.awaitEnd(), l.output.String())
	assert.NoFileExists(t, l.state())
	assert.NoFileExists(t, l.kubeconfig())

	signal.Ignore(syscall.SIGHUP)
	l = startUp(t)
	signal.Reset(syscall.SIGHUP)
	require.NoError(t, l.command.Process.Signal(syscall.SIGHUP))
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}

func TestStrangersAreRefused(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own")
	l := startUp(t, "--kubeconfig", own)
	config, err := clientcmd.LoadFromFile(own)
	require.NoError(t, err)
	assert.NoFileExists(t, l.kubeconfig(), "the user's own is left alone")
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := stranger.Get(config.Clusters["csisim"].Server + "/api/v1/pods")
	require.NoError(t, err)
	defer answer.Body.Close()
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	require.NoError(t, l.command.Process.Signal(syscall.SIGTERM))
	assert.Zero(t, l.awaitEnd())
	assert.NoFileExists(t, own)
}

// TestKubectl is a script of common kubectl commands. Each line is followed by a part of the
// expected output.
func TestKubectl(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	l := startUp(t, "--speed", "10")
	manifest := filepath.Join(l.home, "pod.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte(webPod), 0o600))
	kinds, custom := filepath.Join(l.home, "kinds.yaml"), filepath.Join(l.home, "custom.yaml")
	require.NoError(t, os.WriteFile(kinds, []byte(backups), 0o600))
	require.NoError(t, os.WriteFile(custom, []byte("apiVersion: example.com/v1\nkind: Backup\nmetadata: {name: nightly}\nspec: {claim: data}\n"), 0o600))
	for _, line := range []struct{ args, says string }{
		{"get nodes", "node-b   Ready"},
		{"get sc,csidrivers,csinodes", "mock (default)"},
		{"api-resources", "volumeattachments"},
		{"apply -f " + manifest, "pod/web created"},
		{"wait --for=condition=Ready pod/web --timeout=20s", "condition met"},
		{"get pod web -o wide", "1/1     Running"},
		{"get pvc,pv,volumeattachments", "Bound"},
		{"get pvc data -o jsonpath={.status.phase}", "Bound"},
		{"describe pvc data", "ProvisioningSucceeded"},
		{"describe pod web", "SuccessfulAttachVolume"},
		{"apply -f " + manifest, "pod/web unchanged"},
		{"diff -f " + manifest, ""},
		{"apply --server-side --force-conflicts -f " + manifest, "pod/web serverside-applied"},
		{"label pod web tier=front", "pod/web labeled"},
		{"annotate pod web note=x", "pod/web annotated"},
		{"get pods -l tier=front --show-labels", "tier=front"},
		{"patch pod web --type=merge -p {\"metadata\":{\"labels\":{\"tier\":\"back\"}}}", "pod/web patched"},
		{"get pods -A -o name", "pod/web"},
		{"auth can-i create pods", "yes"},
		{"auth whoami", "kubernetes-admin"},
		{"apply -f " + kinds, "customresourcedefinition.apiextensions.k8s.io/backups.example.com created"},
		{"wait --for=condition=Established crd/backups.example.com --timeout=20s", "condition met"},
		{"apply -f " + custom, "backup.example.com/nightly created"},
		{"apply -f " + custom, "backup.example.com/nightly unchanged"},
		{"apply --server-side --force-conflicts -f " + custom, "backup.example.com/nightly serverside-applied"},
		{"get bk", "nightly   data"},
		{"explain backup.spec.claim", "what is kept"},
		{"scale --replicas=3 bk/nightly", "backup.example.com/nightly scaled"},
		{"get bk nightly -o jsonpath={.spec.copies}", "3"},
		{"delete -f " + kinds, "deleted"},
		{"create namespace other", "namespace/other created"},
		{"create configmap settings -n other --from-literal=a=b", "configmap/settings created"},
		{"delete namespace other --timeout=20s", `namespace "other" deleted`},
		{"taint node node-b a=b:NoSchedule", "node/node-b tainted"},
		{"taint node node-b a-", "node/node-b untainted"},
		{"get volumereplications,csiaddonsnodes -A", "No resources found"},
		{"explain networkfence.spec.fenceState", "Whether the clients are kept off the storage"},
		{"get vs,vsclass,vsc,vgs", ""},
		{"explain pvc.spec.storageClassName", "storageClassName is the name of the StorageClass"},
		{"get events --field-selector involvedObject.name=web", "Scheduled"},
		{"get --raw /readyz", "ok"},
		{"cordon node-a", "node/node-a cordoned"},
		{"get nodes", "Ready,SchedulingDisabled"},
		{"delete -f " + manifest, `pod "web" deleted`},
		{"wait --for=delete pv --all --timeout=20s", ""},
		{"get pods", ""},
	} {
		t.Run(line.args, func(t *testing.T) {
			l := liveCluster{t: t, home: l.home}
			out := l.kubectl(strings.Fields(line.args)...)
			assert.Contains(t, out, line.says)
			assert.NotContains(t, out, "Warning:")
		})
	}
	issuer := filepath.Join(l.home, "issuer.yaml")
	require.NoError(t, os.WriteFile(issuer, []byte("apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: ca}\n"), 0o600))
	out, err := l.runKubectl("create", "-f", issuer)
	require.Error(t, err)
	assert.Contains(t, out, `no matches for kind "Issuer" in version "cert-manager.io/v1"`)
	require.NoError(t, l.command.Process.Signal(syscall.SIGINT))
	assert.Zero(t, l.awaitEnd(), l.output.String())
}

// kubectl returns the output of kubectl for the cluster's user.
func (l *liveCluster) kubectl(args ...string) string {
	l.t.Helper()
	out, err := l.runKubectl(args...)
	require.NoError(l.t, err, out)
	return out
}

func (l *liveCluster) runKubectl(args ...string) (string, error) {
	l.t.Helper()
	kubectl := exec.CommandContext(l.t.Context(), "kubectl", args...)
	kubectl.Env = append(os.Environ(), l.environment()...)
	out, err := kubectl.CombinedOutput()
	return early.ReplaceAllString(string(out), ""), err
}

const webPod = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: registry.local/web:1
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - name: data
    persistentVolumeClaim: {claimName: data}
`

const backups = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: backups, kind: Backup, shortNames: [bk]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.copies, statusReplicasPath: .status.copies}}
    additionalPrinterColumns:
    - {name: Claim, type: string, jsonPath: .spec.claim}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              claim: {type: string, description: what is kept}
              copies: {type: integer, default: 1}
          status:
            type: object
            properties: {copies: {type: integer}}
`
