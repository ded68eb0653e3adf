package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/workload"
)

// k8s.io/endpointslice: ShouldSetHostname. StatefulSets name their pods like that.
func TestAPodHasANameInItsService(t *testing.T) {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "db"}}
	assert.Equal(t, "db-0", *workload.HostnameIn(s, &corev1.Pod{Spec: corev1.PodSpec{Hostname: "db-0", Subdomain: "db"}}))
	assert.Nil(t, workload.HostnameIn(s, &corev1.Pod{Spec: corev1.PodSpec{Hostname: "db-0", Subdomain: "other"}}))
	assert.Nil(t, workload.HostnameIn(s, &corev1.Pod{Spec: corev1.PodSpec{Subdomain: "db"}}))
}
