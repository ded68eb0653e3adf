package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// K-POD-15: a pod is ready only when the conditions of its readiness gates are true as well.
func TestReadinessGatesKeepAPodUnready(t *testing.T) {
	n := start(t, setting{})
	create(n, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: corev1.PodSpec{
			NodeName: nodeName, Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/linked"}},
		},
	})
	ready := func() string {
		status := n.status("web")
		for _, c := range status.Conditions {
			if c.Type == corev1.PodReady {
				return string(c.Status) + " " + c.Message
			}
		}
		return ""
	}
	n.pass(10 * time.Second)
	assert.Equal(t, "Running, c running 0", n.state("web"))
	assert.Equal(t, `False corresponding condition of pod readiness gate "example.com/linked" does not exist.`, ready())
	for status, want := range map[corev1.ConditionStatus]string{
		corev1.ConditionFalse: `False the status of pod readiness gate "example.com/linked" is not "True", but False`, corev1.ConditionTrue: "True ",
	} {
		pod, ok := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: "web"})
		require.True(t, ok)
		pod = pod.DeepCopy()
		pod.Status.Conditions = append(pod.Status.Conditions[:5:5], corev1.PodCondition{Type: "example.com/linked", Status: status})
		_, err := store.UpdateStatus(n.Store, pod)
		require.NoError(t, err)
		n.pass(time.Second)
		assert.Equal(t, want, ready())
	}
}
