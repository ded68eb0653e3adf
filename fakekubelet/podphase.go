package fakekubelet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/workload"
)

// phaseOf derives the phase of a pod from the states of its containers. A pod has ended when none
// of its containers will run again. It has begun when one of its regular containers was started.
// [pkg/kubelet/kubelet_pods.go: getPhase]
func phaseOf(spec *corev1.PodSpec, s *corev1.PodStatus, over, begun bool) corev1.PodPhase {
	var uninitialized, waiting, running, ended, endedForGood, succeeded int
	for i := range s.InitContainerStatuses {
		c, status := &spec.InitContainers[i], &s.InitContainerStatuses[i]
		end := lastEnd(status)
		switch {
		case workload.Sidecar(c) && status.State.Running != nil:
			running++
			if !begun && (status.Started == nil || !*status.Started) {
				uninitialized++
			}
		case workload.Sidecar(c) && end == nil: // the end of a sidecar changes nothing
			waiting++
		case workload.Sidecar(c):
		case end == nil:
			uninitialized++
		case end.ExitCode != 0 && !restartsAfter(c, spec, true, end.ExitCode):
			return corev1.PodFailed
		}
	}
	for i := range s.ContainerStatuses {
		status := &s.ContainerStatuses[i]
		end := lastEnd(status)
		switch {
		case status.State.Running != nil:
			running++
		case end == nil:
			waiting++
		default:
			ended++
			if status.State.Terminated != nil && end.ExitCode == 0 {
				succeeded++
			}
			if !restartsAfter(&spec.Containers[i], spec, false, end.ExitCode) {
				endedForGood++
			}
		}
	}
	switch {
	case over && (uninitialized > 0 || waiting > 0):
		return corev1.PodFailed // one never ran
	case uninitialized > 0 || waiting > 0:
		return corev1.PodPending
	case running > 0 || !over && ended > endedForGood:
		return corev1.PodRunning
	case ended == succeeded:
		return corev1.PodSucceeded
	}
	return corev1.PodFailed
}

// lastEnd returns the last end of a container that is not running; nil if it is running or has
// never run.
func lastEnd(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch {
	case status.State.Running != nil:
		return nil
	case status.State.Terminated != nil:
		return status.State.Terminated
	}
	return status.LastTerminationState.Terminated
}
