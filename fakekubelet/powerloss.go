package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// noticePowerLoss ends a pod with the restart policy Never after its containers ended with the
// power of its node: it gets no other sandbox. A pod that may restart a container by that
// container's own policy is not ended. K-POD-13
func (w *podWorker) noticePowerLoss() {
	own := func(c corev1.Container) bool { return c.RestartPolicy != nil }
	if w.rejected.reason != "" || w.pod.Spec.RestartPolicy != corev1.RestartPolicyNever ||
		slices.ContainsFunc(w.pod.Spec.Containers, own) || !w.options.Runtime.LostContainers(w.pod.UID) {
		return
	}
	w.options.Runtime.EndLost(w.pod)
	w.makeContainers()
	for _, c := range w.programs {
		c.ended = true
	}
	w.terminating = true
}

// keepEnds writes how containers ended that the runtime knows one by one.
func (w *podWorker) keepEnds(s *corev1.PodStatus) {
	for i := range s.ContainerStatuses {
		status := &s.ContainerStatuses[i]
		c := w.options.Runtime.FindProgram(w.pod.UID, status.Name)
		if c != nil && c.Now != nil && !c.Running() {
			status.State.Terminated = terminatedState(c.Now)
		}
	}
}

// doneBefore reports whether a container need not run in the new sandbox of its pod: it exited with
// 0 in an earlier sandbox, and restarts on failure only. Init containers run again. K-POD-13
func (c *container) doneBefore() bool {
	return !c.init && c.program.Now.Code == 0 &&
		restartPolicyOf(c.spec, &c.pod.Spec) == corev1.RestartPolicyOnFailure
}
