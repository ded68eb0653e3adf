package kind

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containerEnds checks that containers that have ended stay so, but for those that are restarted.
func containerEnds(pod, was *corev1.Pod) field.ErrorList {
	at, spec := field.NewPath("status"), &was.Spec
	restartsOf := func(containers []corev1.Container) func(corev1.ContainerStatus) bool {
		return func(old corev1.ContainerStatus) bool {
			i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == old.Name })
			return i >= 0 && restarts(&containers[i], spec.RestartPolicy, old.State.Terminated.ExitCode)
		}
	}
	var errs field.ErrorList
	if !anyRestartsAll(spec) {
		errs = append(errs, staysEnded(at.Child("containerStatuses"), pod.Status.ContainerStatuses, was.Status.ContainerStatuses, restartsOf(spec.Containers))...)
		errs = append(errs, staysEnded(at.Child("initContainerStatuses"), pod.Status.InitContainerStatuses, was.Status.InitContainerStatuses, restartsOf(spec.InitContainers))...)
	}
	never := func(corev1.ContainerStatus) bool { return false }
	return append(errs, staysEnded(at.Child("ephemeralContainerStatuses"), pod.Status.EphemeralContainerStatuses, was.Status.EphemeralContainerStatuses, never)...)
}

func staysEnded(at *field.Path, now, was []corev1.ContainerStatus, mayRestart func(corev1.ContainerStatus) bool) (errs field.ErrorList) {
	for i, old := range was {
		runsAgain := func(s corev1.ContainerStatus) bool { return s.Name == old.Name && s.State.Terminated == nil }
		if old.State.Terminated != nil && slices.ContainsFunc(now, runsAgain) && !mayRestart(old) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// anyRestartsAll reports whether the end of some container restarts them all.
func anyRestartsAll(spec *corev1.PodSpec) bool {
	does := func(c corev1.Container) bool {
		return slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
			return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		})
	}
	return slices.ContainsFunc(spec.InitContainers, does) || slices.ContainsFunc(spec.Containers, does)
}

// restarts reports whether a container that ends is restarted: its own rules and policy come before the pod's.
func restarts(c *corev1.Container, ofPod corev1.RestartPolicy, exitCode int32) bool {
	policy := ofPod
	if c.RestartPolicy != nil {
		if slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool { return isFor(r.ExitCodes, exitCode) }) {
			return true
		}
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && exitCode != 0
}

func isFor(codes *corev1.ContainerRestartRuleOnExitCodes, exitCode int32) bool {
	if codes == nil {
		return false
	}
	listed := slices.Contains(codes.Values, exitCode)
	return codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn && listed || codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpNotIn && !listed
}
