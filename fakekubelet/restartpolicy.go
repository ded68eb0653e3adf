package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/workload"
)

// restartsAfter reports whether a container is restarted after an exit code. Its own rules decide
// first, then its own policy, then the pod's. An init container that has completed is not
// restarted. [pkg/api/v1/pod/util.go: ContainerShouldRestart]
func restartsAfter(c *corev1.Container, pod *corev1.PodSpec, init bool, code int32) bool {
	if init && !workload.Sidecar(c) && code == 0 {
		return false
	}
	policy := restartPolicyOf(c, pod)
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0 ||
		c.RestartPolicy != nil && slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool { return matches(r.ExitCodes, code) })
}

// restartPolicyOf returns the container's own policy or by default the pod's.
func restartPolicyOf(c *corev1.Container, pod *corev1.PodSpec) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return pod.RestartPolicy
}

func matches(codes *corev1.ContainerRestartRuleOnExitCodes, code int32) bool {
	return codes != nil && slices.Contains(codes.Values, code) == (codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
}
