package replicaset

import (
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

func newSet(replicas int32) *appsv1.ReplicaSet {
	labels := map[string]string{"app": "web"}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
}

func living(c *testcluster.Cluster) (pods []*corev1.Pod) {
	c.Run(time.Second)
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		if pod.DeletionTimestamp == nil {
			pods = append(pods, pod)
		}
	}
	return pods
}

func scaleTo(c *testcluster.Cluster, replicas int32) {
	set := testcluster.Get[*appsv1.ReplicaSet](c, "default", "web")
	testcluster.Change(c, set, func(set *appsv1.ReplicaSet) { set.Spec.Replicas = &replicas })
}

func TestASetHasItsReplicas(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	set := testcluster.Create(c, newSet(3))
	pods := living(c)
	require.Len(t, pods, 3)
	assert.True(t, metav1.IsControlledBy(pods[0], set))
	assert.Equal(t, map[string]string{"app": "web"}, pods[0].Labels)

	testcluster.ChangeStatus(c, pods[1], func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
	assert.Len(t, living(c), 4, "one that has failed is replaced, and stays to be looked at")

	testcluster.ChangeStatus(c, pods[2], func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
	c.Run(time.Second)
	status := testcluster.Get[*appsv1.ReplicaSet](c, "default", "web").Status
	assert.Equal(t, []int32{3, 1, 1}, []int32{status.Replicas, status.ReadyReplicas, status.AvailableReplicas})

	scaleTo(c, 1)
	var names []string
	for _, pod := range living(c) {
		names = append(names, pod.Name)
	}
	assert.ElementsMatch(t, []string{pods[1].Name, pods[2].Name}, names, "the one that is ready stays")
}

// A late cache never makes the controller act twice.
func TestNoPodIsMadeTwice(t *testing.T) {
	for seed := range uint64(20) {
		c := testcluster.New(t, kernel.NewRandom(seed+1), mock.Options{})
		Start(c.World)
		testcluster.Create(c, newSet(3))
		require.Len(t, living(c), 3, "seed %d", seed+1)
		scaleTo(c, 1)
		require.Len(t, living(c), 1, "seed %d", seed+1)
	}
}
