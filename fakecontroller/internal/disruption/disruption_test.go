package disruption

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

var labels = map[string]string{"app": "web"}

// webs creates running and ready pods. set is their owner, if it is not nil.
func webs(c *testcluster.Cluster, count int, set *appsv1.ReplicaSet) {
	for i := range count {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", i), Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		if set != nil {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		}
		testcluster.ChangeStatus(c, testcluster.Create(c, pod), func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	}
}

func newBudget(least, down *intstr.IntOrString) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: least, MaxUnavailable: down, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
}

func of(amount string) *intstr.IntOrString {
	parsed := intstr.Parse(amount)
	return &parsed
}

func TestABudgetLimitsTheEvictedPods(t *testing.T) {
	for says, c := range map[string]struct {
		least, down      *intstr.IntOrString
		healthy, allowed int32
	}{
		"a number must stay":     {least: of("2"), healthy: 2, allowed: 1},
		"a share must stay":      {least: of("50%"), healthy: 2, allowed: 1},
		"a number may go":        {down: of("2"), healthy: 1, allowed: 2},
		"a share may go":         {down: of("34%"), healthy: 1, allowed: 2},
		"more must stay than is": {least: of("5"), healthy: 5, allowed: 0},
	} {
		t.Run(says, func(t *testing.T) {
			cluster := testcluster.New(t, nil, mock.Options{})
			Start(cluster.World)
			replicas := int32(3)
			set := testcluster.Create(cluster, &appsv1.ReplicaSet{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
				Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
				}},
			})
			webs(cluster, 3, set)
			testcluster.Create(cluster, newBudget(c.least, c.down))
			cluster.Run(time.Second)
			status := testcluster.Get[*policyv1.PodDisruptionBudget](cluster, "default", "web").Status
			assert.Equal(t, []int32{3, 3, c.healthy, c.allowed}, []int32{status.ExpectedPods, status.CurrentHealthy, status.DesiredHealthy, status.DisruptionsAllowed})
		})
	}
}

func TestAnEvictionIsCountedUntilThePodIsDeleted(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	webs(c, 2, nil)
	testcluster.Create(c, newBudget(of("1"), nil))
	evict := func(name string) error {
		return kind.AllowEviction(c.Store, testcluster.Get[*corev1.Pod](c, "default", name), false)
	}
	err := evict("web-0")
	assert.True(t, apierrors.IsTooManyRequests(err), "the controller has not seen the budget: %v", err)
	c.Run(time.Second)
	require.NoError(t, evict("web-0"))
	require.ErrorContains(t, evict("web-1"), "Cannot evict pod as it would violate the pod's disruption budget.")
	c.Run(time.Second)
	status := testcluster.Get[*policyv1.PodDisruptionBudget](c, "default", "web").Status
	assert.Contains(t, status.DisruptedPods, "web-0", "it is there still")
	assert.Equal(t, int32(1), status.CurrentHealthy)
	assert.Error(t, evict("web-1"))

	c.Run(3 * time.Minute) // the pod was not deleted
	assert.Empty(t, testcluster.Get[*policyv1.PodDisruptionBudget](c, "default", "web").Status.DisruptedPods)
	assert.NoError(t, evict("web-1"))
}

func TestPodsWithoutControllerAreReportedAsUnmanaged(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	webs(c, 1, nil)
	testcluster.Create(c, newBudget(nil, of("1")))
	c.Run(time.Second)
	var reasons []string
	for e := range store.List[*corev1.Event](c.Store, "default") {
		reasons = append(reasons, e.Reason)
	}
	assert.Equal(t, []string{"UnmanagedPods"}, reasons)
	assert.Zero(t, testcluster.Get[*policyv1.PodDisruptionBudget](c, "default", "web").Status.DisruptionsAllowed)
}
