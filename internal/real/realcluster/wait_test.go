package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func waiting(name, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

// Pods of another run are not this run's trouble; init containers are.
func TestWhatThePodsOfARunWaitFor(t *testing.T) {
	other, this := podOf("other", "a"), podOf("this", "b")
	other.Status.ContainerStatuses = []corev1.ContainerStatus{waiting("foreign", "ImagePullBackOff")}
	c, _ := withPods(t, other, this)
	assert.NoError(t, c.cannotPull())
	assert.Empty(t, c.troubles())

	this.Spec.InitContainers = []corev1.Container{{Name: "modprobe"}, {Name: "format"}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
	this.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "modprobe", State: ended}, waiting("format", "ImagePullBackOff")}
	c, _ = withPods(t, other, this)
	assert.ErrorContains(t, c.cannotPull(), "does not get image format: ImagePullBackOff")
	assert.Equal(t, []string{"pod b, container format: ImagePullBackOff "}, c.troubles())
}
