package workload

import corev1 "k8s.io/api/core/v1"

// Sidecar reports whether an init container runs beside the containers of its pod: it is restarted
// whenever it ends.
func Sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
