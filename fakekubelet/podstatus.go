package fakekubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// setStatus writes the pod's status, unless the pod is deleted. If the API server rejects a change,
// the next round writes it.
func (w *podWorker) setStatus(p *kernel.Process, change func(*corev1.PodStatus)) {
	w.unwritten = append(w.unwritten, change)
	switch {
	case w.writeStatus(p):
	case seeded.IsMade(seeded.StatusWrittenOnce):
		w.unwritten = nil
	default:
		w.writeLater()
	}
}

// writeStatus writes the unwritten changes, and reports whether none is left.
func (w *podWorker) writeStatus(p *kernel.Process) bool {
	changes := w.unwritten
	_, err := component.PatchStatus(p, w.Component, store.KeyOf(w.pod), func(pod *corev1.Pod) {
		if pod.UID != w.pod.UID {
			return
		}
		for _, change := range changes {
			change(&pod.Status)
		}
	})
	if err == nil || apierrors.IsNotFound(err) {
		w.unwritten = w.unwritten[min(len(changes), len(w.unwritten)):]
	}
	return len(w.unwritten) == 0
}

func (w *podWorker) condition(s *corev1.PodStatus, t corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) {
	if t == corev1.PodReady && status == corev1.ConditionTrue {
		status, reason, message = w.gates(s)
	}
	c := corev1.PodCondition{Type: t, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(w.Kernel.Now())}
	for i := range s.Conditions {
		if s.Conditions[i].Type != t {
			continue
		}
		if s.Conditions[i].Status == status {
			c.LastTransitionTime = s.Conditions[i].LastTransitionTime
		}
		s.Conditions[i] = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

// served returns the names of the pod's containers and of the sidecars that support them.
func (w *podWorker) served() []string {
	var names []string
	for i := range w.pod.Spec.InitContainers {
		if c := &w.pod.Spec.InitContainers[i]; workload.Sidecar(c) {
			names = append(names, c.Name)
		}
	}
	for i := range w.pod.Spec.Containers {
		names = append(names, w.pod.Spec.Containers[i].Name)
	}
	return names
}

// notStarted returns the reason why a container has not been started.
func (w *podWorker) notStarted() *corev1.ContainerStateWaiting {
	if len(w.pod.Spec.InitContainers) > 0 {
		return &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
}

// containers writes the states of records. Init containers other than sidecars have completed when
// the others run.
func (w *podWorker) containers(s *corev1.PodStatus, running bool, state func() corev1.ContainerState) {
	s.ContainerStatuses, s.InitContainerStatuses = nil, nil
	for i := range w.pod.Spec.InitContainers {
		c := &w.pod.Spec.InitContainers[i]
		status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: state(), Ready: running, Started: new(running && workload.Sidecar(c))}
		if done := w.terminated("Completed", 0)(); !workload.Sidecar(c) && status.State.Waiting == nil {
			status.State, status.Ready = done, true
		}
		w.writePast(&status, !workload.Sidecar(c))
		s.InitContainerStatuses = append(s.InitContainerStatuses, status)
	}
	for i := range w.pod.Spec.Containers {
		c := &w.pod.Spec.Containers[i]
		status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: state(), Ready: running, Started: &running}
		w.writePast(&status, false)
		s.ContainerStatuses = append(s.ContainerStatuses, status)
	}
	w.writeSizes(s)
}

// writePast writes how often a record was restarted, and how its last instance ended.
func (w *podWorker) writePast(s *corev1.ContainerStatus, completes bool) {
	past := w.options.Runtime.PastOf(w.pod.UID, completes)
	s.RestartCount = past.Restarts
	if past.Before != nil {
		s.LastTerminationState.Terminated = terminatedState(past.Before)
	}
}

// waitingStatus is the status while the containers wait for their volumes. Containers that ran
// before the node lost its power have ended.
func (w *podWorker) waitingStatus() func(*corev1.PodStatus) {
	state := func() corev1.ContainerState {
		return corev1.ContainerState{Waiting: w.notStarted()}
	}
	ran := w.pod.Status.Phase == corev1.PodRunning
	if ran { // K-POD-13
		state = w.terminated(runtime.PowerLossReason, runtime.PowerLossCode)
		if end := w.options.Runtime.LostTogether(w.pod.UID); end != nil {
			state = func() corev1.ContainerState { return corev1.ContainerState{Terminated: terminatedState(end)} }
		}
	}
	return func(s *corev1.PodStatus) {
		unready := fmt.Sprintf("containers with unready status: %v", w.served())
		// A pod that names its node itself has this condition, too.
		w.condition(s, corev1.PodScheduled, corev1.ConditionTrue, "", "")
		w.condition(s, corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", "")
		w.containers(s, false, state)
		if ran {
			w.keepEnds(s)
		}
		w.initialized(s)
		w.condition(s, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", unready)
		w.condition(s, corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", unready)
		if s.StartTime == nil {
			now := metav1.NewTime(w.Kernel.Now())
			s.StartTime = &now
		}
	}
}

// configErrorStatus returns the status of a pod with a container that cannot be created from its
// manifest.
func (w *podWorker) configErrorStatus(container string, err error) func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		for _, all := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
			for i := range all {
				if all[i].Name == container && all[i].State.Waiting != nil {
					all[i].State.Waiting = &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}
				}
			}
		}
	}
}

func (w *podWorker) sandboxStatus() func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		w.condition(s, corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", "")
	}
}

func (w *podWorker) runningStatus() func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		now := metav1.NewTime(w.Kernel.Now())
		s.Phase = corev1.PodRunning
		w.containers(s, true, func() corev1.ContainerState {
			return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		})
		w.initialized(s)
		w.condition(s, corev1.PodReady, corev1.ConditionTrue, "", "")
		w.condition(s, corev1.ContainersReady, corev1.ConditionTrue, "", "")
	}
}

// completedStatus is the status of stopped containers that exited with code 0.
func (w *podWorker) completedStatus() func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		s.Phase = corev1.PodSucceeded
		w.condition(s, corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", "")
		w.condition(s, corev1.PodInitialized, corev1.ConditionTrue, "PodCompleted", "")
		w.condition(s, corev1.PodReady, corev1.ConditionFalse, "PodCompleted", "")
		w.condition(s, corev1.ContainersReady, corev1.ConditionFalse, "PodCompleted", "")
		w.containers(s, false, w.terminated("Completed", 0))
	}
}

// failedStatus returns the status of a pod that ended before its containers ran.
func (w *podWorker) failedStatus() func(*corev1.PodStatus) {
	return func(s *corev1.PodStatus) {
		s.Phase = corev1.PodFailed
		w.containers(s, false, w.terminated("ContainerStatusUnknown", 137))
	}
}

func (w *podWorker) terminated(reason string, code int32) func() corev1.ContainerState {
	return func() corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: reason, ExitCode: code, FinishedAt: metav1.NewTime(w.Kernel.Now()),
		}}
	}
}
