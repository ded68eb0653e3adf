package kind

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containerEnds checks that ended containers stay ended, unless they are restarted.
// [pkg/apis/core/validation/validation.go: ValidateContainerStateTransition]
func containerEnds(pod, was *corev1.Pod) field.ErrorList {
	now, old, spec := &pod.Status, &was.Status, &was.Spec
	restartsOf := func(containers []corev1.Container) func(*corev1.ContainerStatus) bool {
		return func(ended *corev1.ContainerStatus) bool { return mayRestart(spec, containers, ended) }
	}
	never := func(*corev1.ContainerStatus) bool { return false }
	errs := staysEnded("containerStatuses", now.ContainerStatuses, old.ContainerStatuses, restartsOf(spec.Containers))
	errs = append(errs, staysEnded("initContainerStatuses", now.InitContainerStatuses, old.InitContainerStatuses, restartsOf(spec.InitContainers))...)
	return append(errs, staysEnded("ephemeralContainerStatuses", now.EphemeralContainerStatuses, old.EphemeralContainerStatuses, never)...)
}

func staysEnded(list string, now, was []corev1.ContainerStatus, mayRestart func(*corev1.ContainerStatus) bool) (errs field.ErrorList) {
	for i := range was {
		if old := &was[i]; old.State.Terminated != nil && runs(now, old.Name) && !mayRestart(old) {
			errs = append(errs, field.Forbidden(field.NewPath("status", list).Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// runs reports whether a container with that name has a status in which it has not ended.
func runs(statuses []corev1.ContainerStatus, name string) bool {
	for i := range statuses {
		if statuses[i].Name == name && statuses[i].State.Terminated == nil {
			return true
		}
	}
	return false
}

// mayRestart reports whether an ended container may be restarted, alone or with all others.
func mayRestart(spec *corev1.PodSpec, containers []corev1.Container, ended *corev1.ContainerStatus) bool {
	for i := range containers {
		if c := &containers[i]; c.Name == ended.Name && restarts(c, spec.RestartPolicy, ended.State.Terminated.ExitCode) {
			return true
		}
	}
	return anyRestartsAll(spec.InitContainers) || anyRestartsAll(spec.Containers)
}

// anyRestartsAll reports whether the end of some container restarts the whole pod.
func anyRestartsAll(containers []corev1.Container) bool {
	for i := range containers {
		if slices.ContainsFunc(containers[i].RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
			return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		}) {
			return true
		}
	}
	return false
}

// restarts reports whether a container is restarted when it ends. Its own rules and policy take
// precedence over the pod's.
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
