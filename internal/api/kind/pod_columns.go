package kind

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/workload"
)

var podColumns = []Column{
	nameColumn,
	text("Ready", func(p *corev1.Pod) string { return podSummary(p).ready() }),
	text("Status", func(p *corev1.Pod) string { return podSummary(p).reason }),
	timed("Restarts", func(p *corev1.Pod, now time.Time) any { return podSummary(p).restarted(now) }),
	ageColumn,
	wide(text("IP", func(p *corev1.Pod) string { return cmp.Or(podIP(p), "<none>") })),
	wide(text("Node", func(p *corev1.Pod) string { return cmp.Or(p.Spec.NodeName, "<none>") })),
	wide(text("Nominated Node", func(p *corev1.Pod) string { return cmp.Or(p.Status.NominatedNodeName, "<none>") })),
	wide(text("Readiness Gates", readinessGates)),
}

// podState has the values of a pod's columns.
type podState struct {
	reason               string
	readyOnes, all       int
	restarts, ofSidecars containerRestarts
}

// containerRestarts counts the restarts of some containers.
type containerRestarts struct {
	count           int
	lastTermination metav1.Time
}

func (r *containerRestarts) add(c corev1.ContainerStatus) {
	r.count += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && r.lastTermination.Before(&t.FinishedAt) {
		r.lastTermination = t.FinishedAt
	}
}

func (s podState) ready() string { return fmt.Sprintf("%d/%d", s.readyOnes, s.all) }

func (s podState) restarted(now time.Time) string {
	text := strconv.Itoa(s.restarts.count)
	if s.restarts.count != 0 && !s.restarts.lastTermination.IsZero() {
		text += fmt.Sprintf(" (%s ago)", age(s.restarts.lastTermination, now))
	}
	return text
}

func podSummary(p *corev1.Pod) podState {
	s := podState{reason: cmp.Or(p.Status.Reason, string(p.Status.Phase)), all: len(p.Spec.Containers)}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.reason = corev1.PodReasonSchedulingGated
		}
	}
	for i := range p.Spec.InitContainers {
		if workload.Sidecar(&p.Spec.InitContainers[i]) {
			s.all++
		}
	}
	if initializing := s.initContainers(p); !initializing || workload.Holds(p, corev1.PodInitialized) {
		s.containers(p)
	}
	switch {
	case p.DeletionTimestamp == nil:
	case p.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded:
		s.reason = "Terminating"
	}
	return s
}

// initContainers adds the progress of initialization, and reports whether it is still under way.
func (s *podState) initContainers(p *corev1.Pod) (initializing bool) {
	for i, c := range p.Status.InitContainerStatuses {
		s.restarts.add(c)
		sidecar := slices.ContainsFunc(p.Spec.InitContainers, func(other corev1.Container) bool { return other.Name == c.Name && workload.Sidecar(&other) })
		if sidecar {
			s.ofSidecars.add(c)
		}
		switch {
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			continue
		case sidecar && c.Started != nil && *c.Started:
			if c.Ready {
				s.readyOnes++
			}
			continue
		case c.State.Terminated != nil:
			s.reason = "Init:" + terminationReason(c.State.Terminated)
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			s.reason = "Init:" + c.State.Waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return true
	}
	return false
}

func (s *podState) containers(p *corev1.Pod) {
	running, failure := false, ""
	s.restarts = s.ofSidecars
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := p.Status.ContainerStatuses[i]
		s.restarts.add(c)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.reason = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			if s.reason = terminationReason(c.State.Terminated); c.State.Terminated.ExitCode != 0 {
				failure = s.reason
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.readyOnes++
		}
	}
	if s.reason != "Completed" {
		return
	}
	switch { // the last column is not about the pod itself
	case running && workload.Holds(p, corev1.PodReady):
		s.reason = "Running"
	case failure != "":
		s.reason = failure
	case running:
		s.reason = "NotReady"
	}
}

func terminationReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	open := 0
	for _, gate := range p.Spec.ReadinessGates {
		for _, c := range p.Status.Conditions {
			if c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue {
				open++
			}
		}
	}
	return fmt.Sprintf("%d/%d", open, len(p.Spec.ReadinessGates))
}

func podIP(pod *corev1.Pod) string {
	if len(pod.Status.PodIPs) > 0 {
		return pod.Status.PodIPs[0].IP
	}
	return pod.Status.PodIP
}
