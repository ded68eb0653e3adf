package fakekubelet

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/workload"
)

// report writes the states of the pod's containers to its status.
func (w *podWorker) report(p *kernel.Process) {
	if w.starter != nil {
		w.starter.Wake() // a sidecar may have started
	}
	w.setStatus(p, func(s *corev1.PodStatus) {
		if isFinal(s.Phase) {
			return
		}
		s.EphemeralContainerStatuses = w.ephemeralStatuses()
		if w.programs == nil { // containers of other pods run together
			return
		}
		s.InitContainerStatuses, s.ContainerStatuses = nil, nil
		for _, c := range w.programs {
			if c.init {
				s.InitContainerStatuses = append(s.InitContainerStatuses, c.status())
			} else {
				s.ContainerStatuses = append(s.ContainerStatuses, c.status())
			}
		}
		w.writeSizes(s)
		was := s.Phase
		s.Phase = phaseOf(&w.pod.Spec, s, w.terminating && w.allEnded(), w.begun())
		w.conditions(s)
		if isFinal(s.Phase) && slices.ContainsFunc(w.programs, (*container).running) {
			// The final phase is shown when all containers have ended.
			// [pkg/kubelet/status/status_manager.go: mergePodStatus]
			s.Phase = was
		}
		s.HostIP, s.HostIPs = w.options.Address, []corev1.HostIP{{IP: w.options.Address}}
		if at := w.address(); at != "" { // the last address stays after the end of the network
			s.PodIP, s.PodIPs = at, []corev1.PodIP{{IP: at}}
		}
	})
}

func isFinal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// loopback is the address of all pods if programs share the network of the machine.
const loopback = "127.0.0.1"

// address returns the pod's address; empty if it has none yet. In the host's network, it is the
// node's address.
func (w *podWorker) address() string {
	switch own := w.options.Runtime.Address(w.pod.UID); {
	case w.pod.Spec.HostNetwork:
		return w.options.Address
	case w.options.ClusterDNS == "" && !w.hasPrograms():
		return ""
	case w.options.ClusterDNS == "":
		return loopback
	case own.IsValid():
		return own.String()
	default:
		return ""
	}
}

func (w *podWorker) conditions(s *corev1.PodStatus) {
	running := corev1.ConditionTrue
	if !w.podManager.options.Runtime.Running(w.pod.UID) {
		running = corev1.ConditionFalse
	}
	w.condition(s, corev1.PodReadyToStartContainers, running, "", "")
	w.initialized(s)
	status, reason, message := corev1.ConditionTrue, "", ""
	switch unready := w.unready(s); {
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

// unready returns the sidecars and containers that are not ready.
func (w *podWorker) unready(s *corev1.PodStatus) (names []string) {
	for i, status := range s.InitContainerStatuses {
		if workload.Sidecar(&w.pod.Spec.InitContainers[i]) && !status.Ready {
			names = append(names, status.Name)
		}
	}
	for _, status := range s.ContainerStatuses {
		if !status.Ready {
			names = append(names, status.Name)
		}
	}
	return names
}

// initialized writes whether the init containers have completed and sidecars have started. When one
// of its containers was started, a pod counts as initialized regardless of its sidecars' states.
// [pkg/kubelet/status/generate.go: GeneratePodInitializedCondition]
func (w *podWorker) initialized(s *corev1.PodStatus) {
	var incomplete []string
	for i, status := range s.InitContainerStatuses {
		done := status.Ready
		if workload.Sidecar(&w.pod.Spec.InitContainers[i]) {
			done = status.Started != nil && *status.Started
		}
		if !done {
			incomplete = append(incomplete, status.Name)
		}
	}
	began := slices.ContainsFunc(s.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Running != nil || c.State.Terminated != nil })
	was := slices.ContainsFunc(s.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodInitialized && c.Status == corev1.ConditionTrue
	})
	switch {
	case s.Phase == corev1.PodSucceeded:
		w.condition(s, corev1.PodInitialized, corev1.ConditionTrue, "PodCompleted", "")
	case len(incomplete) == 0 || began || was:
		w.condition(s, corev1.PodInitialized, corev1.ConditionTrue, "", "")
	default:
		w.condition(s, corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", incomplete))
	}
}

// status returns the status of the container for the API.
func (c *container) status() corev1.ContainerStatus {
	running, started := c.running(), c.started()
	status := corev1.ContainerStatus{Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image, Started: &started}
	status.Ready = c.ready() && (!c.init || c.sidecar)
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
		status.Ready = c.init && !c.sidecar && now.Code == 0
	default:
		status.State.Waiting = c.notStarted()
	}
	return status
}

func terminatedState(i *runtime.Instance) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: i.Code, Reason: i.Reason, Message: i.Message, ContainerID: i.ID,
		StartedAt: metav1.NewTime(i.Started), FinishedAt: metav1.NewTime(i.Finished),
	}
}
