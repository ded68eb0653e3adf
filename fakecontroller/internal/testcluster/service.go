package testcluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Service makes the service web: port 80 leads to the port http of pods.
func (c *Cluster) Service() *corev1.Service {
	c.T.Helper()
	return Create(c, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}},
	})
}

// Served makes a running pod of the service web, with port 8080.
func (c *Cluster) Served(name, ip string, ready corev1.ConditionStatus) *corev1.Pod {
	c.T.Helper()
	pod := Create(c, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-a", Containers: []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}}},
	})
	return ChangeStatus(c, pod, func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, ip, []corev1.PodIP{{IP: ip}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	})
}
