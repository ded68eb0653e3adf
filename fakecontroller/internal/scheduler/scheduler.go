// Package scheduler takes kube-scheduler's decisions. It chooses the node of a pod by its volumes,
// node selector, affinity, anti-affinity, taints and the number of pods. It also decides which
// volumes are bound or provisioned for the pod there.
package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// leftoverAfter limits the time that an unschedulable pod waits for an event. Then the pod is
// retried.
const leftoverAfter = 5 * time.Minute

// Scheduler is a running kube-scheduler.
type Scheduler struct {
	*component.Component
	loop    *kernel.Process
	news    *news
	cluster *cluster
	queue   *queue
	// The scheduler's decisions that the API may not show yet. C-SCHED-7
	claims  *component.Overlay[*corev1.PersistentVolumeClaim]
	volumes *component.Overlay[*corev1.PersistentVolume]
	// binding are the pods that wait for their volumes, by pod and by claim.
	binding map[store.Key]*kernel.Process
	waiters map[store.Key]map[*kernel.Process]bool
	// nominations holds the pods with nominated nodes until they are placed.
	nominations map[store.Key]*nomination
	nextStart   int // the node at which the next search begins
}

// Start runs the scheduler.
func Start(w *component.World) *Scheduler {
	s := &Scheduler{
		Component: w.Start("default-scheduler", ""),
		cluster:   newCluster(),
		queue:     newQueue(),
		binding:   map[store.Key]*kernel.Process{},
		waiters:   map[store.Key]map[*kernel.Process]bool{},

		nominations: map[store.Key]*nomination{},
	}
	s.claims = component.NewOverlay[*corev1.PersistentVolumeClaim](s.Component)
	s.volumes = component.NewOverlay[*corev1.PersistentVolume](s.Component)
	s.loop = s.Go("scheduling", s.run)
	return s
}

// run schedules the pods one by one.
func (s *Scheduler) run(p *kernel.Process) {
	s.news = s.watch(p)
	s.react(p)
}

// react handles new events. Most events do not delay a pod.
func (s *Scheduler) react(p *kernel.Process) {
	s.news.takeIn(s)
	if s.queue.isEmpty() {
		p.React("pods to schedule", s.react)
	} else {
		p.GoOn(s.schedule)
	}
}

// schedule continues until no pod waits.
func (s *Scheduler) schedule(p *kernel.Process) {
	for !s.queue.isEmpty() {
		s.news.takeIn(s)
		key, ok := s.queue.next(p.Elapsed())
		switch {
		case ok:
			s.scheduleOne(p, key)
		case s.queue.hasBackoff():
			p.ParkUntil("pods to schedule", s.queue.backoffEnds())
		case s.queue.hasWaiting():
			if !p.IdleUntil("pods to schedule", s.queue.oldest()+leftoverAfter) {
				s.queue.activateLeftovers(p.Elapsed() - leftoverAfter)
			}
		}
	}
	s.react(p)
}

// scheduleOne finds a node for a pod, assumes the pod there and binds it.
func (s *Scheduler) scheduleOne(p *kernel.Process, key store.Key) {
	pod, ok := component.Cached[*corev1.Pod](s.Component, key)
	if !ok || !schedulable(pod) || s.cluster.isPlaced(pod) {
		return
	}
	s.queue.tried(key)
	a, refusal := s.consider(pod)
	if refusal.reason != "" {
		s.unschedulable(p, pod, preFilterFailure(len(s.cluster.order), refusal))
		return
	}
	chosen, ok := s.choose(a)
	if !ok {
		s.unschedulable(p, pod, s.diagnose(p, a))
		return
	}
	s.bind(p, a, chosen)
}

// schedulable reports whether this scheduler handles the pod: it has no node, has not ended, and
// names no other scheduler.
func schedulable(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !volume.Terminated(pod) &&
		len(pod.Spec.SchedulingGates) == 0 && pod.Spec.SchedulerName == corev1.DefaultSchedulerName
}
