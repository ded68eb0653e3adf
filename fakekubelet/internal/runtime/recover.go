package runtime

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Recover records the containers of a pod according to its status, in a runtime that has lost its
// own records. Containers that ran have ended with the power of the node. K-POD-13
func (r *Runtime) Recover(pod *corev1.Pod) {
	s := r.newSandbox(pod)
	s.lost = r.world.Kernel.Now()
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses)
	for _, spec := range allContainers(pod) {
		i := slices.IndexFunc(statuses, func(status corev1.ContainerStatus) bool { return status.Name == spec.Name })
		switch {
		case i < 0:
		case wasAlone(&statuses[i]):
			r.Program(pod, spec).recover(&statuses[i], s.lost)
			r.lost[pod.UID] = s
		default:
			r.recoverTogether(s, pod, &statuses[i])
		}
	}
}

// wasAlone reports whether a container started individually: only such containers have an ID. While
// it waits for its volumes after a loss of power, only its end has the ID.
func wasAlone(status *corev1.ContainerStatus) bool {
	end := status.State.Terminated
	return status.ContainerID != "" || end != nil && end.ContainerID != ""
}

// recoverTogether records a container that started together with the others of its pod, unless it
// has completed or was never started. An earlier loss of power may have ended it.
func (r *Runtime) recoverTogether(s *sandbox, pod *corev1.Pod, status *corev1.ContainerStatus) {
	switch state := status.State; {
	case state.Running != nil:
		s.started = state.Running.StartedAt.Time
	case state.Terminated != nil && state.Terminated.Reason == PowerLossReason:
		s.started, s.lost = state.Terminated.StartedAt.Time, state.Terminated.FinishedAt.Time
	default:
		return
	}
	s.running = append(s.running, status.Name)
	r.lost[pod.UID] = s
	r.together[pod.UID] = Together{Restarts: status.RestartCount, Before: ended(status.LastTerminationState.Terminated)}
}

// allContainers returns the containers of a pod, including the ephemeral ones.
func allContainers(pod *corev1.Pod) []*corev1.Container {
	all := Containers(pod)
	for _, e := range pod.Spec.EphemeralContainers {
		spec := corev1.Container(e.EphemeralContainerCommon)
		all = append(all, &spec)
	}
	return all
}

// recover records the instances of a container that its status shows. The latest one has ended by
// now.
func (c *Program) recover(status *corev1.ContainerStatus, now time.Time) {
	c.Restarts = status.RestartCount
	before := ended(status.LastTerminationState.Terminated)
	switch state := status.State; {
	case state.Running != nil:
		c.Now = &Instance{ID: status.ContainerID, Started: state.Running.StartedAt.Time, Finished: now, Code: PowerLossCode, Reason: PowerLossReason}
	case state.Terminated != nil:
		c.Now = ended(state.Terminated)
	default: // it waits for its next start
		c.Now, before = before, nil
	}
	c.Before = before
	if c.Now != nil && !c.record {
		c.Now.Log = c.log()
	}
}

// ended returns the instance of an end; nil without an end.
func ended(state *corev1.ContainerStateTerminated) *Instance {
	if state == nil {
		return nil
	}
	return &Instance{
		ID: state.ContainerID, Started: state.StartedAt.Time, Finished: state.FinishedAt.Time,
		Code: state.ExitCode, Reason: state.Reason, Message: state.Message,
	}
}
