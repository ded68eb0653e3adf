package fakekubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func requesting(cpu string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

// resizePod changes the requests of a pod, like its subresource resize.
func (n *node) resizePod(name, cpu string) {
	n.t.Helper()
	pod, _ := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: name})
	pod = pod.DeepCopy()
	requesting(cpu)(&pod.Spec)
	pods, _ := store.ResourceNamed("pods")
	_, err := n.Store.UpdateObject(pods, pod, store.Checked(kind.CheckResize))
	require.NoError(n.t, err)
}

// sizeOf returns the processors in the status of a pod, and its resize conditions.
func (n *node) sizeOf(name string) (allocated, actual string, conditions []string) {
	n.t.Helper()
	pod, _ := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: name})
	require.NotEmpty(n.t, pod.Status.ContainerStatuses)
	status := pod.Status.ContainerStatuses[0]
	require.NotNil(n.t, status.Resources)
	for _, c := range pod.Status.Conditions {
		if strings.HasPrefix(string(c.Type), "PodResize") {
			conditions = append(conditions, string(c.Type)+" "+c.Reason+": "+c.Message)
		}
	}
	return status.AllocatedResources.Cpu().String(), status.Resources.Requests.Cpu().String(), conditions
}

// Given a node of two processors. When a pod requests more, then the request is granted if there is
// room. Otherwise it waits.
func TestAPodIsResizedWhenThereIsRoom(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.volume("more")
	n.pod("web", using("data"), requesting("500m"))
	n.pod("other", using("more"), requesting("1"))
	n.settle()
	allocated, actual, conditions := n.sizeOf("web")
	assert.Equal(t, "500m 500m", allocated+" "+actual)
	assert.Empty(t, conditions)

	n.resizePod("web", "1")
	n.pass(time.Second)
	allocated, actual, conditions = n.sizeOf("web")
	assert.Equal(t, "1 1", allocated+" "+actual)
	assert.Empty(t, conditions)
	assert.Len(t, n.kubeEvents("ResizeStarted"), 1)
	assert.Len(t, n.kubeEvents("ResizeCompleted"), 1)

	n.resizePod("web", "1500m")
	n.pass(time.Second)
	allocated, _, conditions = n.sizeOf("web")
	assert.Equal(t, "1", allocated)
	assert.Equal(t, []string{"PodResizePending Deferred: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"}, conditions)
	n.pass(10 * time.Minute)
	assert.Len(t, n.kubeEvents("ResizeDeferred"), 1, "an event for each wish, not for each try")

	n.killKubelet()
	n.startKubelet()
	n.pass(5 * time.Second)
	allocated, _, conditions = n.sizeOf("web")
	assert.Equal(t, "1", allocated, "the allocation outlives the kubelet")
	assert.Len(t, conditions, 1)

	n.deletePod("other")
	n.pass(time.Minute)
	allocated, actual, conditions = n.sizeOf("web")
	assert.Equal(t, "1500m 1500m", allocated+" "+actual)
	assert.Empty(t, conditions)
}

// A resize that is reverted while it waits has no effect.
func TestAResizeIsCancelled(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"), requesting("500m"))
	n.settle()
	n.resizePod("web", "3")
	n.pass(time.Second)
	_, _, conditions := n.sizeOf("web")
	assert.Len(t, conditions, 1)
	n.resizePod("web", "500m")
	n.pass(5 * time.Minute)
	allocated, _, conditions := n.sizeOf("web")
	assert.Equal(t, "500m", allocated)
	assert.Empty(t, conditions)
}
