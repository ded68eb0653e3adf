package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// large returns the number for nightly tests, and a smaller one for all other tests.
func large(usual, night int) int {
	if clitest.Nightly() {
		return night
	}
	return usual
}

// Given a cluster that is started and stopped again and again, then nothing is left behind.
func TestUpAndDownAgainAndAgain(t *testing.T) {
	p := clitest.NewPlace(t, "")
	began, cycles := time.Now(), large(2, 300)
	for range cycles {
		l := startUp(t, "--work-dir", p.Work)
		require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
		require.Zero(t, l.awaitEnd(), l.output.String())
		require.NoFileExists(t, l.kubeconfig())
		require.Empty(t, p.Leftovers())
	}
	t.Logf("%d cycles in %v", cycles, time.Since(began))
}

// Given many driver programs in one scenario, then each provisions and mounts.
func TestManyDriversAtOnce(t *testing.T) {
	clitest.NeedsMounts(t)
	p := clitest.NewPlace(t, clitest.Build(t))
	drivers := large(5, 50)
	var list, objects, steps strings.Builder
	for i := range drivers {
		name := fmt.Sprintf("driver-%d.example.com", i)
		_, program, _ := strings.Cut(clitest.HostdirDriver, "  program: ")
		fmt.Fprintf(&list, "- name: %s\n  program: %s", name, program)
		fmt.Fprintf(&objects, "- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: class-%d}, provisioner: %s}\n", i, name)
		fmt.Fprintf(&objects, "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-%d}, spec: {accessModes: [ReadWriteOnce], storageClassName: class-%[1]d, resources: {requests: {storage: 1Mi}}}}\n", i)
		fmt.Fprintf(&objects, "- {apiVersion: v1, kind: Pod, metadata: {name: web-%d}, spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /data}]}], volumes: [{name: v, persistentVolumeClaim: {claimName: data-%[1]d}}]}}\n", i)
		fmt.Fprintf(&steps, "- wait: {pod: web-%d, phase: Running}\n", i)
	}
	p.Write("s.yaml", clitest.Header+"cluster: {nodes: 1}\ndrivers:\n"+list.String()+"objects:\n"+objects.String()+"steps:\n"+steps.String())
	began := time.Now()
	out, err := p.Command("run", "s.yaml").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Empty(t, p.Leftovers())
	t.Logf("%d drivers in %v", drivers, time.Since(began))
}

// Given many watches of one client, when a pod is created, then each delivers it.
func TestManyWatches(t *testing.T) {
	l := startUp(t)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	config.QPS, config.Burst = -1, 0
	client := kubernetes.NewForConfigOrDie(config)
	var watches []watch.Interface
	began, number := time.Now(), large(100, 10_000)
	for range number {
		w, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=news"})
		require.NoError(t, err)
		defer w.Stop()
		watches = append(watches, w)
	}
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "news"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, w := range watches {
		e := <-w.ResultChan()
		require.Equal(t, watch.Added, e.Type)
	}
	t.Logf("%d watches in %v", number, time.Since(began))
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd())
}

// Given bodies that are much too large, or that never end, then the API rejects them or only their
// own requests wait, and csisim's memory does not grow.
func TestBodiesThatAreLargeOrSlow(t *testing.T) {
	l := startUp(t)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	c := &programCluster{l, kubernetes.NewForConfigOrDie(config), t.TempDir()}
	before := c.size().memoryMiB
	post := func(ctx context.Context, body io.Reader) (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, config.Host+"/api/v1/namespaces/default/configmaps", body)
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		return transport.RoundTrip(request)
	}
	answer, err := post(t.Context(), io.LimitReader(endless{}, int64(large(64<<20, 1<<30))))
	if err == nil { // the server may close the connection before the end of the body
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
	}
	slow, end := context.WithCancel(t.Context())
	for range large(10, 200) {
		reader, writer := io.Pipe()
		defer writer.Close()
		go func() { _, _ = post(slow, reader) }() // the request never ends by itself
	}
	_, err = c.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err, "others are served")
	after := c.size().memoryMiB
	end()
	t.Logf("%d MiB before, %d MiB after", before, after)
	assert.Less(t, after, before+200)
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd())
}

// endless is a body of spaces.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Given a pod that forks endlessly, then its process limit holds, other pods start, and all its
// processes end with it.
func TestAForkBombStaysInItsPod(t *testing.T) {
	if !clitest.Nightly() {
		t.Skip("it takes a machine: make nightly-live")
	}
	clitest.NeedsRoot(t)
	c := startImages(t)
	bomb := func(name string) {
		c.make(fmt.Sprintf(`
metadata: {name: %s}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: registry.local/tools, args: ["bomb() { bomb | bomb & }; bomb; sleep 1000"]}]
`, name), inPhase(corev1.PodRunning))
	}
	bomb("bomb")
	c.make(`
metadata: {name: other-pod}
spec:
  restartPolicy: Never
  containers: [{name: c, image: registry.local/tools, args: ["echo works"]}]
`, inPhase(corev1.PodSucceeded))
	most := processesNow(t)
	t.Logf("%d processes of the machine while it forks", most)
	require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), "bomb", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool { return processesNow(t) < 100 }, time.Minute, 100*time.Millisecond)
	c.down()
}

func processesNow(t *testing.T) (number int) {
	all, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range all {
		if _, err := strconv.Atoi(e.Name()); err == nil {
			number++
		}
	}
	return number
}
