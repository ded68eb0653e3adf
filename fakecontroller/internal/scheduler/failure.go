package scheduler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// failure is the reason why a pod fits on no node.
type failure struct {
	message string
	plugins pluginSet
}

// preFilterFailure returns a failure that was found before any node was examined. The words "not
// found" come from preemption, which had no node to examine.
func preFilterFailure(nodes int, no refusal) failure {
	if nodes == 0 {
		return noNodes
	}
	return failure{
		message: fmt.Sprintf("0/%d nodes are available: %s. not found", nodes, no.reason),
		plugins: setOf(no.plugin),
	}
}

var noNodes = failure{message: "no nodes available to schedule pods", plugins: nodeReasons}

// diagnose collects the reasons of all nodes and summarizes them in the words of the real
// scheduler. It also starts preemption if that can help.
func (s *Scheduler) diagnose(p *kernel.Process, a *attempt) failure {
	if len(s.cluster.order) == 0 {
		return noNodes
	}
	var refusals []refusal
	reasons := map[string]int{}
	var plugins pluginSet
	for _, n := range slices.Clone(s.cluster.order) {
		_, no := s.filter(a, n)
		refusals = append(refusals, no)
		reasons[no.reason]++
		plugins |= setOf(no.plugin)
	}
	text := fmt.Sprintf("0/%d nodes are available: %s.", len(refusals), histogram(reasons))
	if nominated, why := s.preempt(p, a, refusals); !nominated {
		text += " no new claims to deallocate, preemption: " + why
	}
	return failure{message: text, plugins: plugins}
}

func histogram(counts map[string]int) string {
	var lines []string
	// In any order: the lines are sorted below.
	for reason, count := range counts {
		lines = append(lines, fmt.Sprintf("%d %s", count, reason))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// unschedulable reports why a pod fits on no node. The pod then waits for an event that may change
// this.
func (s *Scheduler) unschedulable(p *kernel.Process, pod *corev1.Pod, why failure) {
	s.queue.wait(store.KeyOf(pod), p.Elapsed(), why.plugins, claimsOf(pod))
	s.tellFailure(p, pod, corev1.PodReasonUnschedulable, why.message)
}

func (s *Scheduler) tellFailure(p *kernel.Process, pod *corev1.Pod, reason, message string) {
	s.Report(pod, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", message)
	if cond := scheduledCondition(pod); cond != nil && cond.Status == corev1.ConditionFalse && cond.Reason == reason && cond.Message == message {
		return
	}
	// A deleted pod needs no status.
	_, _ = component.PatchStatus(p, s.Component, store.KeyOf(pod), func(now *corev1.Pod) {
		if now.UID == pod.UID {
			s.setUnscheduled(now, reason, message)
			if n := s.nominations[store.KeyOf(pod)]; n != nil {
				now.Status.NominatedNodeName = n.node
			}
		}
	})
}

func scheduledCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodScheduled {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func (s *Scheduler) setUnscheduled(pod *corev1.Pod, reason, message string) {
	cond := scheduledCondition(pod)
	if cond == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled})
		cond = scheduledCondition(pod)
	}
	if cond.Status != corev1.ConditionFalse {
		cond.Status = corev1.ConditionFalse
		cond.LastTransitionTime.Time = s.Kernel.Now()
	}
	cond.Reason, cond.Message = reason, message
}
