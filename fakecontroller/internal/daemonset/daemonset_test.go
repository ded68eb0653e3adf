package daemonset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

func newCluster(t *testing.T, strategy kernel.Strategy) *testcluster.Cluster {
	c := testcluster.New(t, strategy, mock.Options{})
	for node := range store.List[*corev1.Node](c.Store, "") {
		testcluster.Delete(c, node)
	}
	testcluster.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"disk": "ssd"}}})
	testcluster.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}})
	tainted := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "t"}}
	tainted.Spec.Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
	testcluster.Create(c, tainted)
	Start(c.World)
	return c
}

func newSet(change func(*corev1.PodSpec)) *appsv1.DaemonSet {
	labels := map[string]string{"app": "node"}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "node"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
	change(&set.Spec.Template.Spec)
	return set
}

// nodes are those for which there is a pod.
func nodes(c *testcluster.Cluster) string {
	c.Run(time.Second)
	var all []string
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		if pod.DeletionTimestamp == nil {
			all = append(all, nodeOf(pod))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestEveryNodeThatFitsHasAPod(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"all but tainted ones": {func(*corev1.PodSpec) {}, "a b"},
		"taints are tolerated": {func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "own", Operator: corev1.TolerationOpExists}}
		}, "a b t"},
		"those that are selected": {func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, nil)
			testcluster.Create(c, newSet(tt.change))
			assert.Equal(t, tt.want, nodes(c))
			status := testcluster.Get[*appsv1.DaemonSet](c, "default", "node").Status
			assert.EqualValues(t, len(strings.Fields(tt.want)), status.CurrentNumberScheduled)
			assert.Equal(t, status.DesiredNumberScheduled, status.NumberUnavailable)

			testcluster.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "new", Labels: map[string]string{"disk": "ssd"}}})
			assert.Contains(t, nodes(c), "new")
		})
	}
}

func TestAPodWhoseNodeDoesNotFitAnyMoreEnds(t *testing.T) {
	c := newCluster(t, nil)
	testcluster.Create(c, newSet(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }))
	require.Equal(t, "a", nodes(c))
	testcluster.Change(c, testcluster.Get[*corev1.Node](c, "", "a"), func(n *corev1.Node) { n.Labels = nil })
	assert.Empty(t, nodes(c))
}

// An update ends one pod that is ready at a time; its node gets a new one.
func TestAnUpdateReplacesOnePodAtATime(t *testing.T) {
	c := newCluster(t, nil)
	testcluster.Create(c, newSet(func(*corev1.PodSpec) {}))
	require.Equal(t, "a b", nodes(c))
	makeReady(c)
	before := map[string]bool{}
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		before[pod.Name] = true
	}
	testcluster.Change(c, testcluster.Get[*appsv1.DaemonSet](c, "default", "node"), func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "i:2"
	})
	replaced := func() (n int) {
		for pod := range store.List[*corev1.Pod](c.Store, "default") {
			if !before[pod.Name] {
				n++
			}
		}
		return n
	}
	assert.Equal(t, "a b", nodes(c))
	assert.Equal(t, 1, replaced())
	makeReady(c)
	assert.Equal(t, "a b", nodes(c))
	assert.Equal(t, 2, replaced())
}

func makeReady(c *testcluster.Cluster) {
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		testcluster.ChangeStatus(c, pod, func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	}
}

// A cache that lags behind never makes the controller act twice.
func TestNoNodeGetsTwoPods(t *testing.T) {
	for seed := range uint64(20) {
		c := newCluster(t, kernel.NewRandom(seed+1))
		testcluster.Create(c, newSet(func(*corev1.PodSpec) {}))
		require.Equal(t, "a b", nodes(c), "seed %d", seed+1)
		assert.Len(t, slices.Collect(store.List[*corev1.Pod](c.Store, "default")), 2, "seed %d", seed+1)
	}
}
