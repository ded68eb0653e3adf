package ephemeral

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func newWorld(t *testing.T) *testcluster.API {
	w := testcluster.NewAPI(t, nil)
	Start(w.World)
	return w
}

var spec = corev1.PersistentVolumeClaimSpec{
	AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
	Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
}

func makePod(t *testing.T, w *testcluster.API) *corev1.Pod {
	pod, err := store.Create(w.Store, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: spec}}}}},
	}})
	require.NoError(t, err)
	return pod
}

var key = store.Key{Namespace: "default", Name: "p-data"}

// C-EPH-1
func TestPodGetsTheClaimOfItsTemplate(t *testing.T) {
	w := newWorld(t)
	pod := makePod(t, w)
	w.Run(time.Second)
	claim, ok := store.Get[*corev1.PersistentVolumeClaim](w.Store, key)
	require.True(t, ok)
	yes := true
	assert.Equal(t, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: pod.UID, Controller: &yes, BlockOwnerDeletion: &yes}}, claim.OwnerReferences)
	assert.Equal(t, map[string]string{"a": "b"}, claim.Labels)
	assert.Equal(t, spec.Resources, claim.Spec.Resources)

	_, err := store.Modify(w.Store, key, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	require.NoError(t, err)
	_, err = store.Delete[*corev1.PersistentVolumeClaim](w.Store, key)
	require.NoError(t, err)
	w.Run(time.Second)
	again, ok := store.Get[*corev1.PersistentVolumeClaim](w.Store, key)
	require.True(t, ok, "a claim that was deleted is made again")
	assert.NotEqual(t, claim.UID, again.UID)
}

// C-EPH-1
func TestClaimOfAnotherOwnerIsNotTaken(t *testing.T) {
	w := newWorld(t)
	_, err := store.Create(w.Store, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p-data"}, Spec: spec})
	require.NoError(t, err)
	makePod(t, w)
	w.Run(time.Second)
	var messages []string
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent {
			assert.Equal(t, "FailedBinding", e.Method)
			assert.Equal(t, "ephemeral_volume", e.Actor)
			messages = append(messages, e.Message)
		}
	}
	require.Greater(t, len(messages), 1, "it is tried again")
	assert.Equal(t, "ephemeral volume data: PVC default/p-data was not created for pod default/p (pod is not owner)", messages[0])
}
