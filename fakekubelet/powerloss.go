package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// noticePowerLoss notices that a loss of power has ended the containers of the pod. Its emptyDirs
// in memory are then empty. It ends a pod with the restart policy Never, which gets no new sandbox.
// The pod continues if one of its containers has its own policy that permits a restart. K-POD-13
func (w *podWorker) noticePowerLoss() {
	if !w.options.Runtime.LostContainers(w.pod.UID) {
		return
	}
	w.clearMemory()
	own := func(c corev1.Container) bool { return c.RestartPolicy != nil }
	if w.rejected.reason != "" || w.pod.Spec.RestartPolicy != corev1.RestartPolicyNever ||
		slices.ContainsFunc(w.pod.Spec.Containers, own) {
		return
	}
	w.options.Runtime.EndLost(w.pod)
	w.makeContainers()
	for _, c := range w.programs {
		c.ended = true
	}
	w.terminating = true
}

// keepEnds writes the ends of individually recorded containers.
func (w *podWorker) keepEnds(s *corev1.PodStatus) {
	for _, all := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range all {
			w.keepEnd(&all[i])
		}
	}
}

func (w *podWorker) keepEnd(status *corev1.ContainerStatus) {
	c := w.options.Runtime.FindProgram(w.pod.UID, status.Name)
	if c == nil || c.Now == nil || c.Running() {
		return
	}
	status.State.Terminated, status.RestartCount = terminatedState(c.Now), c.Restarts
	if c.Before != nil {
		status.LastTerminationState.Terminated = terminatedState(c.Before)
	}
}

// doneBefore reports whether a container need not run in its pod's new sandbox: it exited with 0 in
// an earlier sandbox, and restarts only on failure. Init containers run again. K-POD-13
func (c *container) doneBefore() bool {
	return !c.init && c.program.Now.Code == 0 &&
		restartPolicyOf(c.spec, &c.pod.Spec) == corev1.RestartPolicyOnFailure
}
