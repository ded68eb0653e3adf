package podgc

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
)

type cluster struct{ *testcluster.API }

func newCluster(t *testing.T) *cluster {
	c := &cluster{testcluster.NewAPI(t, nil, kind.NoServiceAccounts)}
	Start(c.World)
	return c
}

func (c *cluster) addNode(name string) {
	c.T.Helper()
	_, err := store.Create(c.Store, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	})
	require.NoError(c.T, err)
}

// changeNode changes the spec and the status of a node.
func (c *cluster) changeNode(name string, change func(*corev1.Node)) {
	c.T.Helper()
	node, ok := store.Get[*corev1.Node](c.Store, store.Key{Name: name})
	require.True(c.T, ok)
	changed := node.DeepCopy()
	change(changed)
	_, err := store.Modify(c.Store, store.Key{Name: name}, func(n *corev1.Node) { n.Spec = changed.Spec })
	require.NoError(c.T, err)
	_, err = store.ModifyStatus(c.Store, store.Key{Name: name}, func(n *corev1.Node) { n.Status = changed.Status })
	require.NoError(c.T, err)
}

func (c *cluster) deleteNode(name string) {
	c.T.Helper()
	_, err := store.Delete[*corev1.Node](c.Store, store.Key{Name: name})
	require.NoError(c.T, err)
}

var podKey = store.Key{Namespace: "default", Name: "p"}

func (c *cluster) addPod(node string, finalizers ...string) {
	c.T.Helper()
	_, err := store.Create(c.Store, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", Finalizers: finalizers},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	})
	require.NoError(c.T, err)
}

func (c *cluster) deletePod() {
	c.T.Helper()
	_, err := store.Delete[*corev1.Pod](c.Store, podKey)
	require.NoError(c.T, err)
}

func (c *cluster) pod() *corev1.Pod {
	pod, _ := store.Get[*corev1.Pod](c.Store, podKey)
	return pod
}

// C-ADC-63, fact 59, golden ff1: found missing in a pass, and removed two passes later.
func TestOrphanIsRemovedAfterQuarantine(t *testing.T) {
	c := newCluster(t)
	c.addNode("node-a")
	c.addPod("node-a", "test/keep")
	c.At(13 * time.Second)
	c.deleteNode("node-a")
	c.At(60*time.Second - 1)
	require.Equal(t, corev1.PodPending, c.pod().Status.Phase)
	c.At(60 * time.Second)
	assert.Equal(t, corev1.PodFailed, c.pod().Status.Phase)
	require.Len(t, c.pod().Status.Conditions, 1)
	assert.Equal(t, "DeletionByPodGC", c.pod().Status.Conditions[0].Reason)
	assert.Equal(t, "PodGC: node no longer exists", c.pod().Status.Conditions[0].Message)
	assert.NotNil(t, c.pod().DeletionTimestamp)
	assert.Equal(t, int64(0), *c.pod().DeletionGracePeriodSeconds)
}

func TestAnOrphanStaysIfItsNodeReturns(t *testing.T) {
	c := newCluster(t)
	c.addNode("node-a")
	c.addPod("node-a")
	c.At(13 * time.Second)
	c.deleteNode("node-a")
	c.At(50 * time.Second)
	c.addNode("node-a")
	c.At(10 * time.Minute)
	assert.NotNil(t, c.pod())
	c.deleteNode("node-a")
	c.At(10*time.Minute + 50*time.Second)
	assert.NotNil(t, c.pod(), "the quarantine begins anew")
	c.At(11*time.Minute + 20*time.Second)
	assert.Nil(t, c.pod())
}

// C-ADC-62, fact 35, golden o2
func TestTerminatingPodOfANodeOutOfService(t *testing.T) {
	taint := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}
	}
	silent := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	both := func(n *corev1.Node) { taint(n); silent(n) }
	cases := map[string]struct {
		node    func(*corev1.Node)
		deleted bool
		removed bool
	}{
		"terminating, silent and tainted": {both, true, true},
		"not terminating":                 {both, false, false},
		"node is ready":                   {taint, true, false},
		"node is not tainted":             {silent, true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.addNode("node-a")
			c.addPod("node-a")
			c.At(25 * time.Second)
			c.changeNode("node-a", tc.node)
			if tc.deleted {
				c.deletePod()
			}
			c.At(39 * time.Second)
			require.NotNil(t, c.pod())
			c.At(40 * time.Second)
			assert.Equal(t, tc.removed, c.pod() == nil)
		})
	}
}

func TestTerminatingPodThatWasNeverScheduled(t *testing.T) {
	c := newCluster(t)
	c.addPod("", "test/keep")
	c.At(time.Second)
	c.deletePod()
	c.At(20 * time.Second)
	assert.Equal(t, corev1.PodFailed, c.pod().Status.Phase)
	assert.Empty(t, c.pod().Status.Conditions)
}

func TestNothingToCollectNeedsNoTimer(t *testing.T) {
	c := newCluster(t)
	c.addNode("node-a")
	c.addPod("node-a")
	assert.Equal(t, kernel.Stuck, c.Kernel.Run(kernel.Until{}))
}
