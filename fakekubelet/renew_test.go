package fakekubelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Given a container that has to restart for a resize, and has not ended yet. When its pod gets
// another resize that needs no restart, then the container restarts nevertheless.
func TestALaterResizeCancelsNoRestart(t *testing.T) {
	c := &container{podWorker: &podWorker{}, spec: &corev1.Container{Name: "main"}, renew: true}
	c.resize(corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}})
	assert.True(t, c.renew)
}
