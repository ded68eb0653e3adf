package kind_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// The API server keeps an Event for an hour after its last write.
func TestEventsLiveForAnHour(t *testing.T) {
	now := store.Epoch
	s := kind.NewStore(store.Options{Now: func() time.Time { return now }})
	for _, name := range []string{"once", "again", "deleted"} {
		_, err := store.Create(s, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: name},
			InvolvedObject: corev1.ObjectReference{Namespace: "default", Kind: "Pod", Name: "web"},
		})
		require.NoError(t, err)
	}
	key := func(name string) store.Key { return store.Key{Namespace: "default", Name: name} }
	names := func() (all []string) {
		for e := range store.List[*corev1.Event](s, "") {
			all = append(all, e.Name)
		}
		return all
	}
	after := func(d time.Duration) []string {
		now = store.Epoch.Add(d)
		s.Expire()
		return names()
	}
	_, err := store.Delete[*corev1.Event](s, key("deleted"))
	require.NoError(t, err)
	after(30 * time.Minute)
	_, err = store.Modify(s, key("again"), func(e *corev1.Event) { e.Count = 2 })
	require.NoError(t, err)
	assert.Equal(t, []string{"again", "once"}, after(time.Hour-1))
	assert.Equal(t, []string{"again"}, after(time.Hour))
	assert.Equal(t, []string{"again"}, after(90*time.Minute-1))
	assert.Empty(t, after(90*time.Minute))
}

// A number of replicas above the number of pods in the largest cluster is most likely a typing
// error.
func TestReplicasAreBounded(t *testing.T) {
	s := kind.NewStore(store.Options{})
	labels := map[string]string{"app": "web"}
	deployment := func(name string, replicas int32) error {
		_, err := store.Create(s, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}},
		})
		return err
	}
	assert.NoError(t, deployment("most", kind.MaxPods))
	assert.EqualError(t, deployment("more", 2_000_000_000), `Deployment.apps "more" is invalid: spec.replicas: Invalid value: 2000000000: `+
		`must be less than or equal to 150000, the number of pods that a cluster has at most`)
}
