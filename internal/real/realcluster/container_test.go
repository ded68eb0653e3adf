package realcluster

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// shells records the commands that run on nodes.
type shells struct{ ran []string }

func (s *shells) Run(_ context.Context, node string, command ...string) (string, error) {
	s.ran = append(s.ran, node+": "+strings.Join(command, " "))
	return "", nil
}

func (s *shells) PowerOff(_ context.Context, node string) error {
	s.ran = append(s.ran, node+": power off")
	return nil
}

func (s *shells) PowerOn(_ context.Context, node string) error {
	s.ran = append(s.ran, node+": power on")
	return nil
}

// podOf returns a pod of a driver that a run has deployed, with running containers.
func podOf(run, name string, containers ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "disk-system", Labels: map[string]string{deploy.RunLabel: run, deploy.DriverLabel: "disk"}}}
	pod.Spec.NodeName = "node-of-" + name
	for _, c := range containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	return pod
}

func withPods(t *testing.T, pods ...runtime.Object) (*Cluster, *shells) {
	t.Helper()
	machines := &shells{}
	c := &Cluster{silent: map[string]bool{}, dark: map[string]bool{}, outages: map[string]int{}, pods: map[store.Key]bool{}, known: map[string]bool{}, atFirst: map[string]map[string]bool{}, killed: map[string]victim{}, clients: fake.NewClientset(pods...), options: Options{Machines: machines, Deploy: deploy.Options{Run: "this"}, Drivers: []deploy.Driver{{Name: "disk"}}}}
	c.clock, c.queue = newClock(), newQueue()
	c.world = component.NewWorld(kernel.New(kernel.Options{}), store.New(store.Options{}), trace.NewRecorder(c.clock))
	c.watch = ledger.NewWatch(c.world.Trace)
	c.data = newDataCheck(c)
	c.ctx, c.end = context.WithCancelCause(t.Context())
	return c, machines
}

// SIGKILL hits the container of the run's own pod, even if other pods have a container with the
// same name.
func TestTheContainerThatIsKilledIsTheRunsOwn(t *testing.T) {
	c, machines := withPods(t, podOf("other", "a", "csi-attacher"), podOf("this", "b", "csi-provisioner"), podOf("this", "c", "csi-attacher", "plugin"))
	require.NoError(t, c.Kill(sim.Controller("csi-attacher/disk")))
	require.Len(t, machines.ran, 2)
	assert.Equal(t, "node-of-c: systemctl stop kubelet", machines.ran[0], "it would start the container again")
	assert.Regexp(t, "^node-of-c: .*--name '\\^csi-attacher\\$' --label io.kubernetes.pod.namespace=disk-system --label io.kubernetes.pod.name=c ", machines.ran[1])

	assert.EqualError(t, c.Kill(sim.Controller("csi-resizer/disk")), "find the pod of csi-resizer/disk: none runs")
	assert.Len(t, machines.ran, 2)
}

// The kubelet of a scenario's node continues to run, because it does more than restart a container.
func TestTheKubeletOfAScenariosNodeIsNotStoppedForAController(t *testing.T) {
	c, machines := withPods(t, podOf("this", "c", "csi-attacher"))
	c.options.Nodes = []string{"node-of-c"}
	require.NoError(t, c.Kill(sim.Controller("csi-attacher/disk")))
	require.Len(t, machines.ran, 1)
	assert.Contains(t, machines.ran[0], "kill -9")
	require.NoError(t, c.revive(t.Context()))
	assert.Len(t, machines.ran, 1)
}

// seen puts an object into the mirror, and replaces the previous object with the same name.
func seen(t *testing.T, c *Cluster, resource string, object store.Object) {
	t.Helper()
	res, ok := store.ResourceNamed(resource)
	require.True(t, ok)
	key := store.KeyOf(object)
	old, there := c.world.Store.GetObject(res, key)
	if !there {
		old = nil
	}
	c.world.Store.Commit(res, key, old, object)
}
