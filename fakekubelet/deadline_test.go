package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// A pod ends at its deadline even if its kubelet has restarted meanwhile. Its volumes are
// unpublished. K-POD-10 [pkg/kubelet/active_deadline.go]
func TestAPodEndsAtItsDeadline(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"), func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = new(int64(60)) })
	n.run("web")
	n.pass(30 * time.Second)
	n.killKubelet()
	n.startKubelet()
	n.pass(25 * time.Second)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	n.pass(20 * time.Second)
	s := n.status("web")
	assert.Equal(t, "Failed DeadlineExceeded: Pod was active on the node longer than the specified deadline", string(s.Phase)+" "+s.Reason+": "+s.Message)
	assert.Len(t, n.kubeEvents("DeadlineExceeded"), 1)
	n.settle()
	assert.Empty(t, n.mounts())
}
