package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Given a container that restarts for a memory resize and not for a CPU resize, when its pod is
// resized, then its limit changes, and only the memory resize restarts it.
func TestAResizeRestartsAContainerByItsPolicy(t *testing.T) {
	c := startPrograms(t)
	c.make(`
metadata: {name: web}
spec:
  containers:
  - name: main
    image: registry.local/shell
    args: [-c, "trap 'exit 0' TERM; while :; do sleep 0.05; done"]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
    resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: memory, restartPolicy: RestartContainer}]
`, inPhase(corev1.PodRunning))
	resize := func(resources string, until func(*corev1.ContainerStatus) bool) {
		patch := `{"spec":{"containers":[{"name":"main","resources":` + resources + `}]}}`
		_, err := c.CoreV1().Pods("default").Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "resize")
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			pod, err := c.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
			return err == nil && until(&pod.Status.ContainerStatuses[0])
		}, time.Minute, 20*time.Millisecond)
	}
	resize(`{"requests":{"cpu":"200m"}}`, func(s *corev1.ContainerStatus) bool {
		return s.AllocatedResources.Cpu().String() == "200m" && s.Resources.Requests.Cpu().String() == "200m" && s.RestartCount == 0
	})
	resize(`{"limits":{"memory":"256Mi"}}`, func(s *corev1.ContainerStatus) bool {
		return s.Resources.Limits.Memory().String() == "256Mi" && s.RestartCount == 1 && s.State.Running != nil
	})
	assert.Contains(t, c.eventsAbout("web"), "Container main resize requires restart")
	pod, err := c.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	for _, condition := range pod.Status.Conditions {
		assert.NotEqual(t, corev1.PodResizeInProgress, condition.Type)
	}
	c.down()
}
