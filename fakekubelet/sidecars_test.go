package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// Given a pod of records with an init container and a sidecar that use its volume. Then the init
// container has completed when the pod runs, the sidecar runs with the pod, and both use the
// volume.
func TestInitContainersOfRecords(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"), func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{
			{Name: "first", Image: "first:1"},
			{Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), VolumeMounts: s.Containers[0].VolumeMounts},
		}
	})
	n.settle()
	pod, _ := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: "web"})
	assert.Equal(t, corev1.PodRunning, pod.Status.Phase)
	statuses := pod.Status.InitContainerStatuses
	assert.Len(t, statuses, 2)
	assert.Equal(t, "Completed", statuses[0].State.Terminated.Reason)
	assert.True(t, statuses[0].Ready)
	assert.False(t, *statuses[0].Started)
	assert.NotNil(t, statuses[1].State.Running)
	assert.True(t, statuses[1].Ready && *statuses[1].Started)

	n.deletePod("web")
	n.settle()
	assert.False(t, n.exists("web"))
}

// Given a pod with a sidecar and a missing volume. Then the pod's status names the containers that
// wait, and the reason.
func TestAPodWithInitContainersWaits(t *testing.T) {
	n := start(t, setting{})
	n.pod("web", using("missing"), func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{
			{Name: "first", Image: "first:1"},
			{Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		}
	})
	n.pass(time.Second)
	pod, _ := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: "web"})
	assert.Equal(t, "PodInitializing", pod.Status.ContainerStatuses[0].State.Waiting.Reason)
	messages := map[corev1.PodConditionType]string{}
	for _, c := range pod.Status.Conditions {
		messages[c.Type] = string(c.Status) + " " + c.Reason + " " + c.Message
	}
	assert.Equal(t, "False ContainersNotInitialized containers with incomplete status: [first sidecar]", messages[corev1.PodInitialized])
	assert.Equal(t, "False ContainersNotReady containers with unready status: [sidecar "+pod.Spec.Containers[0].Name+"]", messages[corev1.PodReady])
}
