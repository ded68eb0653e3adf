package fakekubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
)

// report writes what the containers of the pod do to its status.
func (w *podWorker) report(p *kernel.Process) {
	w.setStatus(p, func(s *corev1.PodStatus) {
		if s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed {
			return
		}
		s.EphemeralContainerStatuses = w.ephemeralStatuses()
		if w.programs == nil { // the others are records
			return
		}
		s.InitContainerStatuses, s.ContainerStatuses = nil, nil
		var unready, uninitialized []string
		for _, c := range w.programs {
			status := c.status()
			if c.init {
				s.InitContainerStatuses = append(s.InitContainerStatuses, status)
				if status.State.Terminated == nil || status.State.Terminated.ExitCode != 0 {
					uninitialized = append(uninitialized, c.spec.Name)
				}
				continue
			}
			s.ContainerStatuses = append(s.ContainerStatuses, status)
			if !status.Ready {
				unready = append(unready, c.spec.Name)
			}
		}
		s.Phase = w.phase(len(uninitialized) > 0)
		w.conditions(s, uninitialized, unready)
		s.HostIP, s.PodIP = w.options.Address, w.address()
		s.HostIPs, s.PodIPs = []corev1.HostIP{{IP: s.HostIP}}, []corev1.PodIP{{IP: s.PodIP}}
	})
}

// loopback is the address of all pods: programs share the network of the machine.
const loopback = "127.0.0.1"

// address is the pod's own; in the host's network it is the node's.
func (w *podWorker) address() string {
	if w.pod.Spec.HostNetwork {
		return w.options.Address
	}
	return loopback
}

func (w *podWorker) conditions(s *corev1.PodStatus, uninitialized, unready []string) {
	running := corev1.ConditionTrue
	if !w.podManager.options.Runtime.Running(w.pod.UID) {
		running = corev1.ConditionFalse
	}
	w.condition(s, corev1.PodReadyToStartContainers, running, "", "")
	if len(uninitialized) > 0 {
		w.condition(s, corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", uninitialized))
	} else {
		w.condition(s, corev1.PodInitialized, corev1.ConditionTrue, "", "")
	}
	status, reason, message := corev1.ConditionTrue, "", ""
	switch {
	case s.Phase == corev1.PodSucceeded:
		status, reason = corev1.ConditionFalse, "PodCompleted"
	case s.Phase == corev1.PodFailed:
		status, reason = corev1.ConditionFalse, "PodFailed"
	case len(unready) > 0:
		status, reason, message = corev1.ConditionFalse, "ContainersNotReady", fmt.Sprintf("containers with unready status: %v", unready)
	}
	w.condition(s, corev1.PodReady, status, reason, message)
	w.condition(s, corev1.ContainersReady, status, reason, message)
}

// phase is what the states of the containers make of the pod.
func (w *podWorker) phase(initializing bool) corev1.PodPhase {
	var running, waiting, done, failed int
	for _, c := range w.programs {
		switch {
		case c.init:
		case c.running():
			running++
		case c.program != nil && c.program.Now == nil && !c.ended:
			waiting++
		default:
			done++
			if c.program != nil && (c.program.Now == nil || c.program.Now.Code != 0) {
				failed++
			}
		}
	}
	restarting := w.pod.Spec.RestartPolicy == corev1.RestartPolicyAlways && !w.terminating
	switch {
	case w.initFailed() && !w.terminating:
		return corev1.PodFailed
	case initializing && !w.terminating:
		return corev1.PodPending
	case waiting > 0:
		return corev1.PodPending
	case running > 0 || restarting:
		return corev1.PodRunning
	case failed == 0:
		return corev1.PodSucceeded
	case w.pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && !w.terminating:
		return corev1.PodRunning
	}
	return corev1.PodFailed
}

// status is what the API reports of the container.
func (c *container) status() corev1.ContainerStatus {
	running, started := c.running(), c.started()
	status := corev1.ContainerStatus{Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image, Ready: c.ready(), Started: &started}
	if c.program == nil {
		switch {
		case running:
			status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.since)}
		case c.ended:
			status.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.NewTime(c.Kernel.Now())}
			status.Ready = c.init
		default:
			status.State.Waiting = c.waiting
		}
		return status
	}
	status.RestartCount = c.program.Restarts
	now := c.program.Now
	if now != nil {
		status.ContainerID = now.ID
	}
	if c.program.Before != nil {
		status.LastTerminationState.Terminated = terminatedState(c.program.Before)
	}
	switch {
	case running:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Started)}
	case c.waiting != nil && !c.ended:
		status.State.Waiting = c.waiting
		if now != nil {
			status.LastTerminationState.Terminated = terminatedState(now)
		}
	case now != nil:
		status.State.Terminated = terminatedState(now)
		status.Ready = c.init && now.Code == 0
	default:
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return status
}

func terminatedState(i *runtime.Instance) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: i.Code, Reason: i.Reason, Message: i.Message, ContainerID: i.ID,
		StartedAt: metav1.NewTime(i.Started), FinishedAt: metav1.NewTime(i.Finished),
	}
}
