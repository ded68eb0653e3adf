package job

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// perRound bounds the number of pods that one pass over a job creates or ends.
const perRound = 500

// act creates missing pods, or ends surplus pods. If the job has failed, it ends all of them.
func (c *Controller) act(p *kernel.Process, r *round) error {
	wanted := 0
	if r.verdict == nil {
		wanted = r.wanted()
	}
	if surplus := r.surplus(); len(surplus) > 0 {
		return c.end(p, r, surplus)
	}
	missing := wanted - len(r.active)
	if missing < 0 {
		slices.SortStableFunc(r.active, leastFirst)
		return c.end(p, r, r.active[:min(-missing, perRound)])
	}
	if r.onlyReplacesFailed() {
		missing -= int(r.terminating)
	}
	switch {
	case missing > 0 && r.DeletionTimestamp == nil:
		if rest := c.failures.rest(r.UID, c.Kernel.Now()); rest > 0 && !r.isPerIndex() {
			c.jobs.AddAfter(store.KeyOf(r.job), rest)
			return nil
		}
		return c.make(p, r, min(missing, perRound))
	}
	return nil
}

func (c *Controller) make(p *kernel.Process, r *round, count int) error {
	numbers := make([]int, count)
	if r.done != nil {
		numbers = c.rested(r, r.pending(count))
	}
	for _, n := range numbers {
		pod := workload.Pod(r.job, kind, &r.Spec.Template)
		if r.done != nil {
			number(r.job, pod, n)
			r.countFailures(pod, n)
		}
		if !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
		}
		made, err := component.Create(p, c.Component, pod)
		if err != nil {
			c.Event(r.job, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
			return err
		}
		c.expected.Made(r.UID, made)
		c.Event(r.job, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %s", made.Name)
		r.active = append(r.active, made)
	}
	return nil
}

// surplus returns pods of an Indexed job that can contribute nothing.
func (r *round) surplus() []*corev1.Pod {
	if r.done == nil || r.verdict != nil {
		return nil
	}
	return r.duplicates()
}

// leastFirst sorts pods by their progress, the least advanced first.
func leastFirst(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(progress(a), progress(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
}

// end deletes pods. A deleted pod counts as failed once it has ended.
func (c *Controller) end(p *kernel.Process, r *round, pods []*corev1.Pod) error {
	pods = slices.Clone(pods)
	for _, pod := range pods {
		c.expected.Ended(r.UID, pod)
		if _, err := component.Delete[*corev1.Pod](p, c.Component, store.KeyOf(pod), store.PreconditionUID(pod.UID)); err != nil {
			c.expected.Saw(r.UID, pod, true)
			c.Event(r.job, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
			return err
		}
		c.Event(r.job, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %s", pod.Name)
		r.terminating++
	}
	r.active = slices.DeleteFunc(r.active, func(pod *corev1.Pod) bool { return slices.Contains(pods, pod) })
	return nil
}

func progress(pod *corev1.Pod) int {
	switch {
	case workload.Ready(pod):
		return 3
	case pod.Status.Phase == corev1.PodRunning:
		return 2
	case pod.Spec.NodeName != "":
		return 1
	}
	return 0
}
