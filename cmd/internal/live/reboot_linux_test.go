package live

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
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
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given a live cluster with a driver program, when process 1 of its node is killed, then an event
// reports it, the driver restarts, and a new claim is provisioned and mounted.
func TestANodeBootsAgainAfterTheEndOfItsProcessOne(t *testing.T) {
	clitest.NeedsMounts(t)
	t.Parallel() // the test mostly waits
	p := clitest.NewPlace(t, clitest.Build(t))
	p.Write("cluster.yaml", clitest.Header+strings.Replace(clitest.HostdirDriver, "[hostdir, ", "["+filepath.Join(p.Bin, "hostdir")+", ", 1)+clitest.HostdirObjects)
	l := startUp(t, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work, "--speed", "20")
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	c := &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
	ones := c.processOnes()
	require.Len(t, ones, 2, "those of the node and of the control plane")
	for _, pid := range ones {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	require.Eventually(t, func() bool {
		events, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Rebooted"})
		return err == nil && len(events.Items) == 1 && strings.Contains(events.Items[0].Message, "its process 1 has ended: signal: killed")
	}, time.Minute, 20*time.Millisecond)
	claim := &corev1.PersistentVolumeClaim{}
	require.NoError(t, yaml.Unmarshal([]byte(`{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: hostdir, resources: {requests: {storage: 16Mi}}}}`), claim))
	_, err = c.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{})
	require.NoError(t, err)
	c.make(`
metadata: {name: web}
spec:
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /data}]}]
`, inPhase(corev1.PodRunning))
	assert.Len(t, c.processOnes(), 2)
	c.down()
}

// processOnes returns the processes 1 of the cluster's machines.
func (c *programCluster) processOnes() (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/comm")
	require.NoError(c.t, err)
	for _, file := range all {
		name, _ := os.ReadFile(file) // the process may have ended
		dir := filepath.Dir(file)
		environment, _ := os.ReadFile(dir + "/mountinfo")
		if bytes.HasPrefix(name, []byte("csisim-node")) && bytes.Contains(environment, []byte(c.work)) {
			pid, err := strconv.Atoi(filepath.Base(dir))
			require.NoError(c.t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}
