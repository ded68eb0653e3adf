package nodelifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// kubelets sends the heartbeats of the kubelets.
type kubelets struct {
	dead map[string]time.Duration // the time of their last lease renewal
	tell func(string)
}

func (k *kubelets) LastRenewal(node string) (time.Duration, bool) {
	at, dead := k.dead[node]
	return at, !dead
}

func (k *kubelets) OnChange(f func(string)) { k.tell = f }

type cluster struct {
	*testcluster.API
	kubelets *kubelets
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{testcluster.NewAPI(t, nil, kind.NoServiceAccounts), &kubelets{dead: map[string]time.Duration{}}}
	Start(c.World, c.kubelets)
	return c
}

func (c *cluster) addNode(name string) {
	c.T.Helper()
	_, err := store.Create(c.Store, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}},
	})
	require.NoError(c.T, err)
}

func (c *cluster) addPod(name, node string, tolerations ...corev1.Toleration) {
	c.T.Helper()
	pod, err := store.Create(c.Store, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: node, Tolerations: tolerations, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	})
	require.NoError(c.T, err)
	_, err = store.ModifyStatus(c.Store, store.KeyOf(pod), func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
	require.NoError(c.T, err)
}

// dies ends a kubelet that renewed its lease at the given time.
func (c *cluster) dies(node string, renewed time.Duration) {
	c.kubelets.dead[node] = renewed
	c.kubelets.tell(node)
}

// returns restarts a kubelet, which reports its node as ready.
func (c *cluster) returns(node string) {
	c.T.Helper()
	delete(c.kubelets.dead, node)
	c.kubelets.tell(node)
	c.ready(node, corev1.ConditionTrue)
}

func (c *cluster) ready(node string, status corev1.ConditionStatus) {
	c.T.Helper()
	_, err := store.ModifyStatus(c.Store, store.Key{Name: node}, func(n *corev1.Node) {
		condition(n, corev1.NodeReady).Status = status
	})
	require.NoError(c.T, err)
}

func (c *cluster) node(name string) *corev1.Node {
	n, ok := store.Get[*corev1.Node](c.Store, store.Key{Name: name})
	require.True(c.T, ok)
	return n
}

func (c *cluster) pod(name string) *corev1.Pod {
	pod, _ := store.Get[*corev1.Pod](c.Store, store.Key{Namespace: "default", Name: name})
	return pod
}

func (c *cluster) taints(node string) []string {
	var all []string
	for _, t := range c.node(node).Spec.Taints {
		all = append(all, t.Key+":"+string(t.Effect))
	}
	return all
}

func (c *cluster) events() []string {
	var lines []string
	for _, e := range c.World.Trace.Events() {
		if e.Kind == trace.KubeEvent {
			lines = append(lines, e.At.String()+" "+e.Actor+" "+e.Name+" "+e.Message)
		}
	}
	return lines
}

const unreachable = "node.kubernetes.io/unreachable"

// fact 35, golden o1: the lease renewed at 8 s is observed at 10 s. 50 s later the node is unknown
// and tainted at once; 0.1 s later a second taint follows.
func TestDeadKubelet(t *testing.T) {
	c := newCluster(t)
	c.At(2 * time.Second)
	c.addNode("node-a")
	c.addPod("o1", "node-a")
	c.At(9 * time.Second)
	c.dies("node-a", 8*time.Second)
	c.At(60*time.Second - 1)
	require.Equal(t, corev1.ConditionTrue, condition(c.node("node-a"), corev1.NodeReady).Status)
	c.At(60 * time.Second)
	ready := condition(c.node("node-a"), corev1.NodeReady)
	assert.Equal(t, corev1.ConditionUnknown, ready.Status)
	assert.Equal(t, "NodeStatusUnknown", ready.Reason)
	assert.Equal(t, "Kubelet stopped posting node status.", ready.Message)
	assert.Equal(t, []string{unreachable + ":NoSchedule"}, c.taints("node-a"))
	c.At(60*time.Second + taintDelay)
	assert.Equal(t, []string{unreachable + ":NoSchedule", unreachable + ":NoExecute"}, c.taints("node-a"))
	assert.NotNil(t, c.node("node-a").Spec.Taints[1].TimeAdded)
	assert.False(t, isReady(c.pod("o1")))
	assert.Equal(t, []string{
		"5s node-controller Node/node-a Node node-a event: Registered Node node-a in Controller",
		"1m0s node-controller Node/node-a Node node-a status is now: NodeNotReady",
		"1m0s node-controller Pod/o1 Node is not ready",
	}, c.events())

	// Back: NoSchedule is removed at once, and NoExecute in the monitor's next pass.
	c.At(71 * time.Second)
	c.returns("node-a")
	c.At(71500 * time.Millisecond)
	assert.Equal(t, []string{unreachable + ":NoExecute"}, c.taints("node-a"))
	c.At(75 * time.Second)
	assert.Empty(t, c.taints("node-a"))
	assert.Equal(t, "1m15s taint-eviction-controller Pod/o1 Cancelling deletion of Pod default/o1", c.events()[3])
}

// Pods tolerate the NoExecute taint for 300 s by default.
func TestPodLeavesASilentNodeAfterFiveMinutes(t *testing.T) {
	c := newCluster(t)
	c.addNode("node-a")
	c.addPod("p", "node-a")
	forever := corev1.Toleration{Operator: corev1.TolerationOpExists}
	c.addPod("stays", "node-a", forever)
	c.At(time.Second)
	c.dies("node-a", 0)
	c.At(50*time.Second + taintDelay + 300*time.Second - 1)
	require.Nil(t, c.pod("p").DeletionTimestamp)
	c.At(50*time.Second + taintDelay + 300*time.Second)
	assert.NotNil(t, c.pod("p").DeletionTimestamp)
	assert.Equal(t, "5m50.1s taint-eviction-controller Pod/p Marking for deletion Pod default/p", c.events()[4])
	target := c.pod("p").Status.Conditions[1]
	assert.Equal(t, corev1.DisruptionTarget, target.Type)
	assert.Equal(t, "DeletionByTaintManager", target.Reason)
	c.At(time.Hour)
	assert.Nil(t, c.pod("stays").DeletionTimestamp)
}

// golden o2: a taint that is not tolerated replaces the planned deletion by an immediate one.
func TestOutOfServiceTaintEvictsAtOnce(t *testing.T) {
	c := newCluster(t)
	c.addNode("node-a")
	c.addPod("o2", "node-a")
	c.At(time.Second)
	c.dies("node-a", 0)
	c.At(70 * time.Second)
	_, err := store.Modify(c.Store, store.Key{Name: "node-a"}, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute})
	})
	require.NoError(t, err)
	c.At(71 * time.Second)
	assert.NotNil(t, c.pod("o2").DeletionTimestamp)
	assert.Equal(t, []string{
		"1m10s taint-eviction-controller Pod/o2 Cancelling deletion of Pod default/o2",
		"1m10s taint-eviction-controller Pod/o2 Marking for deletion Pod default/o2",
	}, c.events()[3:])
	c.At(time.Hour)
	assert.Len(t, c.events(), 5, "it is evicted once")
	assert.Len(t, c.taints("node-a"), 3, "the taint of the administrator stays")
}

func TestConditionTaintsFollowTheNode(t *testing.T) {
	c := newCluster(t)
	c.addNode("node-a")
	c.At(time.Second)
	set := func(unschedulable bool) {
		_, err := store.Modify(c.Store, store.Key{Name: "node-a"}, func(n *corev1.Node) { n.Spec.Unschedulable = unschedulable })
		require.NoError(t, err)
		c.At(c.Kernel.Elapsed() + time.Millisecond)
	}
	set(true)
	assert.Equal(t, []string{"node.kubernetes.io/unschedulable:NoSchedule"}, c.taints("node-a"))
	set(false)
	assert.Empty(t, c.taints("node-a"))
	c.ready("node-a", corev1.ConditionFalse)
	c.At(4 * time.Second)
	assert.Equal(t, []string{"node.kubernetes.io/not-ready:NoSchedule"}, c.taints("node-a"))
	c.At(5 * time.Second)
	assert.Equal(t, []string{"node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"}, c.taints("node-a"))
}

// golden ff1: recorded at the monitor's passes.
func TestNodesComeAndGo(t *testing.T) {
	c := newCluster(t)
	c.At(time.Second)
	c.addNode("node-a")
	c.At(7 * time.Second)
	_, err := store.Delete[*corev1.Node](c.Store, store.Key{Name: "node-a"})
	require.NoError(t, err)
	c.At(12 * time.Second)
	c.addNode("node-a")
	c.At(time.Minute)
	assert.Equal(t, []string{
		"5s node-controller Node/node-a Node node-a event: Registered Node node-a in Controller",
		"10s node-controller Node/node-a Node node-a event: Removing Node node-a from Controller",
		"15s node-controller Node/node-a Node node-a event: Registered Node node-a in Controller",
	}, c.events())
	assert.Equal(t, kernel.Stuck, c.Kernel.Run(kernel.Until{}), "healthy nodes need no timer")
}

func TestTolerated(t *testing.T) {
	sixty, zero := int64(60), int64(0)
	taints := []corev1.Taint{{Key: "a", Value: "1", Effect: corev1.TaintEffectNoExecute}, {Key: "b", Effect: corev1.TaintEffectNoExecute}}
	all := corev1.Toleration{Operator: corev1.TolerationOpExists}
	a := corev1.Toleration{Key: "a", Value: "1", TolerationSeconds: &sixty}
	b := corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	cases := map[string]struct {
		tolerations []corev1.Toleration
		stay        time.Duration
		limited     bool
	}{
		"nothing":          {nil, 0, true},
		"one of two":       {[]corev1.Toleration{a}, 0, true},
		"both, one for 60": {[]corev1.Toleration{a, b}, time.Minute, true},
		"everything":       {[]corev1.Toleration{all}, 0, false},
		"first match wins": {[]corev1.Toleration{all, a}, 0, false},
		"wrong value":      {[]corev1.Toleration{{Key: "a", Value: "2"}, b}, 0, true},
		"wrong effect":     {[]corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}, 0, true},
		"zero seconds":     {[]corev1.Toleration{{Operator: corev1.TolerationOpExists, TolerationSeconds: &zero}}, 0, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stay, limited := tolerated(taints, tc.tolerations)
			assert.Equal(t, tc.stay, stay)
			assert.Equal(t, tc.limited, limited)
		})
	}
}
