package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/world/workload"
)

// endpointslice: FindPort. A service may lead to a sidecar, but to no other init container.
func TestAServiceLeadsToASidecar(t *testing.T) {
	container := func(port string, policy *corev1.ContainerRestartPolicy) corev1.Container {
		return corev1.Container{RestartPolicy: policy, Ports: []corev1.ContainerPort{{Name: port, ContainerPort: 80, Protocol: corev1.ProtocolTCP}}}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{container("once", nil), container("proxy", new(corev1.ContainerRestartPolicyAlways))},
		Containers:     []corev1.Container{container("web", nil)},
	}}
	for name, want := range map[string]bool{"once": false, "proxy": true, "web": true} {
		_, found := workload.TargetPort(corev1.ServicePort{TargetPort: intstr.FromString(name), Protocol: corev1.ProtocolTCP}, pod)
		assert.Equal(t, want, found, name)
	}
}
