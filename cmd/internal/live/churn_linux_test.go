package live

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// churnVariable is the number of pods that the test of growth creates and deletes; make nightly
// sets a large number.
const churnVariable = "CSISIM_CHURN"

// Given a live cluster, when pods with block volumes are created and deleted, then csisim has no
// more descriptors, threads and files than after the first pods.
func TestALiveClusterStaysTheSameSize(t *testing.T) {
	clitest.NeedsMounts(t)
	t.Parallel() // the test mostly waits
	pods := 12
	if given, err := strconv.Atoi(os.Getenv(churnVariable)); err == nil {
		pods = given
	}
	p := clitest.NewPlace(t, clitest.Build(t))
	p.Write("cluster.yaml", clitest.Header+strings.Replace(clitest.HostdirDriver, "[hostdir, ", "["+filepath.Join(p.Bin, "hostdir")+", ", 1)+
		"images: {registry.local/shell: /bin/sh}\n"+clitest.HostdirObjects)
	l := startUp(t, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work, "--speed", "100")
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	c := &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
	var after size
	for i := range pods {
		c.blockPod(fmt.Sprint("data-", i))
		now := c.size()
		if i == 2 { // caches are full
			after = now
		}
		if i%100 == 0 || i == pods-1 {
			t.Logf("after %d pods: %+v", i+1, now)
		}
	}
	last := c.size()
	assert.LessOrEqual(t, last.descriptors, after.descriptors+descriptorsOfClients)
	assert.LessOrEqual(t, last.threads, after.threads+threadsOfGo)
	assert.Equal(t, after.files, last.files)
	assert.Equal(t, after.processes, last.processes)
	c.down()
}

// The Go runtime keeps idle threads, and the server keeps idle connections.
const (
	descriptorsOfClients = 4
	threadsOfGo          = 8
)

// size is the number of resources of the machine that a live cluster uses.
type size struct{ descriptors, threads, processes, files, memoryMiB int }

// size adds up the processes of csisim, except those of its machines.
func (c *programCluster) size() (s size) {
	for _, pid := range csisims(c.t, c.command.Process.Pid) {
		dir := fmt.Sprintf("/proc/%d", pid)
		descriptors, err := os.ReadDir(dir + "/fd")
		require.NoError(c.t, err)
		threads, err := os.ReadDir(dir + "/task")
		require.NoError(c.t, err)
		status, err := os.ReadFile(dir + "/status")
		require.NoError(c.t, err)
		resident := regexp.MustCompile(`VmRSS:\s+([0-9]+) kB`).FindSubmatch(status)
		require.NotNil(c.t, resident)
		kib, err := strconv.Atoi(string(resident[1]))
		require.NoError(c.t, err)
		s.descriptors += len(descriptors)
		s.threads += len(threads)
		s.memoryMiB += kib >> 10
		s.processes++
	}
	err := filepath.WalkDir(c.work, func(_ string, _ os.DirEntry, err error) error {
		s.files++
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(c.t, err)
	}
	return s
}

// csisims returns a process of csisim, and the process that it has started in namespaces.
func csisims(t *testing.T, outer int) (pids []int) {
	pids = []int{outer}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", outer))
	require.NoError(t, err)
	var children []byte
	for _, task := range tasks {
		more, _ := os.ReadFile(task) // the thread may have ended
		children = append(children, more...)
	}
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// blockPod makes a claim and a pod that uses it as a device, and deletes both.
func (c *programCluster) blockPod(name string) {
	claim := &corev1.PersistentVolumeClaim{}
	require.NoError(c.t, yaml.Unmarshal(fmt.Appendf(nil, "{metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], volumeMode: Block, "+
		"storageClassName: hostdir, resources: {requests: {storage: 1Mi}}}}", name), claim))
	claims, pods := c.CoreV1().PersistentVolumeClaims("default"), c.CoreV1().Pods("default")
	_, err := claims.Create(c.t.Context(), claim, metav1.CreateOptions{})
	require.NoError(c.t, err)
	c.make(fmt.Sprintf(`
metadata: {name: %s}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: v, persistentVolumeClaim: {claimName: %[1]s}}]
  containers: [{name: c, image: registry.local/shell, args: ["-c", "echo out; sleep 1000"], volumeDevices: [{name: v, devicePath: /dev/block}]}]
`, name), inPhase(corev1.PodRunning))
	require.NoError(c.t, pods.Delete(c.t.Context(), name, metav1.DeleteOptions{}))
	require.NoError(c.t, claims.Delete(c.t.Context(), name, metav1.DeleteOptions{}))
	require.Eventually(c.t, func() bool {
		_, ofPod := pods.Get(c.t.Context(), name, metav1.GetOptions{})
		volumes, err := c.CoreV1().PersistentVolumes().List(c.t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(ofPod) && err == nil && len(volumes.Items) == 0
	}, time.Minute, 5*time.Millisecond)
}
