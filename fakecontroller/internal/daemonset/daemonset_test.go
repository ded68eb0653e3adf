package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
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

// nodes lists the nodes that have a pod.
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

func TestAPodThatNoLongerFitsItsNodeEnds(t *testing.T) {
	c := newCluster(t, nil)
	testcluster.Create(c, newSet(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }))
	require.Equal(t, "a", nodes(c))
	testcluster.Change(c, testcluster.Get[*corev1.Node](c, "", "a"), func(n *corev1.Node) { n.Labels = nil })
	assert.Empty(t, nodes(c))
}

// An update ends one ready pod at a time, and its node gets a new pod.
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

// An old cache never makes the controller act twice.
func TestNoNodeGetsTwoPods(t *testing.T) {
	for seed := range uint64(20) {
		c := newCluster(t, kernel.NewRandom(seed+1))
		testcluster.Create(c, newSet(func(*corev1.PodSpec) {}))
		require.Equal(t, "a b", nodes(c), "seed %d", seed+1)
		assert.Len(t, slices.Collect(store.List[*corev1.Pod](c.Store, "default")), 2, "seed %d", seed+1)
	}
}

// A set with a surge creates the new pod beside the old one. The surge limits the number of nodes
// with two pods. The old pod ends when the new one has been ready for long enough. C-DS-1
// [pkg/controller/daemon/update.go]
func TestASurgeMakesTheNewPodFirst(t *testing.T) {
	c := newCluster(t, nil)
	set := newSet(func(*corev1.PodSpec) {})
	surge, none := intstr.FromInt32(1), intstr.FromInt32(0)
	set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &surge, MaxUnavailable: &none}}
	testcluster.Create(c, set)
	require.Equal(t, "a b", nodes(c))
	makeReady(c)
	c.Run(time.Second)
	testcluster.Change(c, testcluster.Get[*appsv1.DaemonSet](c, "default", "node"), func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "i:2"
	})
	assert.Equal(t, "a a b", nodes(c), "one node has two")
	assert.Equal(t, "a a b", nodes(c), "as long as the new one is not ready")
	makeReady(c)
	assert.Equal(t, "a b b", nodes(c))
	makeReady(c)
	assert.Equal(t, "a b", nodes(c))
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		assert.Equal(t, "i:2", pod.Spec.Containers[0].Image)
	}
}

// A pod that its kubelet rejects repeatedly is replaced at growing intervals. C-DS-2
// [pkg/controller/daemon/daemon_controller.go failedPodsBackoff]
func TestAFailedPodIsReplacedWithBackoff(t *testing.T) {
	c := newCluster(t, nil)
	testcluster.Create(c, newSet(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }))
	made := 0
	for range 120 {
		c.Run(time.Second)
		for pod := range store.List[*corev1.Pod](c.Store, "default") {
			if pod.Status.Phase != corev1.PodFailed && pod.DeletionTimestamp == nil {
				made++
				testcluster.ChangeStatus(c, pod, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
			}
		}
	}
	assert.Equal(t, 8, made, "after 0, 1, 2, 4, 8, 16, 32 and 64 seconds")
}

// Given a set that keeps one old template. When it is updated twice and rolled back, then its
// revisions are numbered by their last use, and the oldest one is deleted. C-DS-3
func TestTemplatesAreKeptAsRevisions(t *testing.T) {
	c := newCluster(t, kernel.Calm{})
	set := newSet(func(*corev1.PodSpec) {})
	set.Spec.RevisionHistoryLimit = ptr.To[int32](1)
	testcluster.Create(c, set)
	revisions := func(image string) (all []string) {
		testcluster.Change(c, set, func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.Containers[0].Image = image
			s.Spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
		})
		for range 20 {
			c.Run(time.Second)
			for pod := range store.List[*corev1.Pod](c.Store, "default") {
				testcluster.ChangeStatus(c, pod, func(p *corev1.Pod) {
					p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				})
			}
		}
		for rev := range store.List[*appsv1.ControllerRevision](c.Store, "default") {
			template, err := workload.Recorded(rev)
			require.NoError(t, err)
			all = append(all, fmt.Sprintf("%d %s", rev.Revision, template.Spec.Containers[0].Image))
		}
		slices.Sort(all)
		return all
	}
	assert.Equal(t, []string{"1 i"}, revisions("i"))
	assert.Equal(t, []string{"1 i", "2 j"}, revisions("j"))
	assert.Equal(t, []string{"2 j", "3 i"}, revisions("i"), "the first one is the newest")
	assert.Equal(t, []string{"3 i", "4 k"}, revisions("k"), "the oldest one is deleted")
}
