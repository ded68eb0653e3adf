package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// account counts the pods that have ended. No pod is lost or counted twice, even if the controller
// is killed at any moment. Pods are first listed in the status, then released from their finalizer,
// then counted.
func (c *Controller) account(p *kernel.Process, r *round) error {
	r.describe()
	uncounted := r.Status.UncountedTerminatedPods
	ignored := false
	for _, pod := range r.ended {
		switch {
		case pod.Status.Phase == corev1.PodFailed && !r.counts(pod):
			ignored = true
		case pod.Status.Phase == corev1.PodFailed:
			uncounted.Failed = append(uncounted.Failed, pod.UID)
		case r.done == nil:
			uncounted.Succeeded = append(uncounted.Succeeded, pod.UID)
		}
	}
	if r.done != nil {
		r.Status.CompletedIndexes, r.Status.Succeeded = r.done.String(), int32(len(r.done))
	}
	if r.isPerIndex() {
		r.Status.FailedIndexes = new(r.lost.String())
	}
	if len(uncounted.Succeeded)+len(uncounted.Failed) > 0 || ignored || r.done != nil && len(r.ended) > 0 {
		if err := c.write(p, r); err != nil {
			return err
		}
		if err := c.release(p, r); err != nil {
			return err
		}
		uncounted = r.Status.UncountedTerminatedPods
		kept := slices.DeleteFunc(slices.Clone(uncounted.Failed), func(pod types.UID) bool { return !r.isFailing(pod) })
		r.Status.Succeeded += int32(len(uncounted.Succeeded))
		r.Status.Failed += int32(len(uncounted.Failed) - len(kept))
		r.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: kept}
	}
	c.conclude(r)
	return c.write(p, r)
}

// describe writes the running pods, and whether the job is suspended.
func (r *round) describe() {
	s := &r.Status
	s.Active, s.Terminating = int32(len(r.active)), &r.terminating
	ready := int32(0)
	for _, pod := range r.active {
		if workload.Ready(pod) {
			ready++
		}
	}
	s.Ready = &ready
	if s.UncountedTerminatedPods == nil {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
}

// release removes the finalizer from the pods in the status.
func (c *Controller) release(p *kernel.Process, r *round) error {
	for pod := range store.Indexed[*corev1.Pod](c.Cache, store.OwnerUID, string(r.UID)) {
		counted := r.isUncounted(pod.UID) || r.done != nil && pod.Status.Phase == corev1.PodSucceeded ||
			pod.Status.Phase == corev1.PodFailed && !r.counts(pod)
		if !counted || r.isFailing(pod.UID) || !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			continue
		}
		if err := c.untrack(p, pod); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) untrack(p *kernel.Process, pod *corev1.Pod) error {
	_, err := component.Patch(p, c.Component, store.KeyOf(pod), func(pod *corev1.Pod) {
		pod.Finalizers = slices.DeleteFunc(slices.Clone(pod.Finalizers), func(f string) bool { return f == batchv1.JobTrackingFinalizer })
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// conclude writes the end of a job when none of its pods runs any more.
func (c *Controller) conclude(r *round) {
	if r.verdict == nil && r.enough() {
		r.verdict = success(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
	}
	switch {
	case r.verdict == nil:
		c.suspend(r)
	case !holds(r.job, r.verdict.first):
		c.set(r, r.verdict.first, corev1.ConditionTrue, r.verdict.reason, r.verdict.message)
		fallthrough
	default:
		if len(r.active) > 0 || r.terminating > 0 {
			return
		}
		c.set(r, r.verdict.last, corev1.ConditionTrue, r.verdict.reason, r.verdict.message)
		c.announce(r)
	}
}

func (c *Controller) announce(r *round) {
	if r.verdict.last == batchv1.JobFailed {
		c.Event(r.job, corev1.EventTypeWarning, r.verdict.reason, "%s", r.verdict.message)
		return
	}
	now := metav1.NewTime(c.Kernel.Now()).Rfc3339Copy()
	r.Status.CompletionTime = &now
	c.Event(r.job, corev1.EventTypeNormal, "Completed", "Job completed")
}

func (c *Controller) suspend(r *round) {
	switch suspended := holds(r.job, batchv1.JobSuspended); {
	case *r.Spec.Suspend && !suspended:
		r.Status.StartTime = nil
		c.set(r, batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended")
		c.Event(r.job, corev1.EventTypeNormal, "Suspended", "Job suspended")
	case !*r.Spec.Suspend && suspended:
		c.set(r, batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed")
		c.Event(r.job, corev1.EventTypeNormal, "Resumed", "Job resumed")
	}
}

func (c *Controller) set(r *round, kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(c.Kernel.Now()).Rfc3339Copy()
	condition := batchv1.JobCondition{Type: kind, Status: status, Reason: reason, Message: message, LastProbeTime: now, LastTransitionTime: now}
	all := slices.DeleteFunc(slices.Clone(r.Status.Conditions), func(c batchv1.JobCondition) bool { return c.Type == kind })
	r.Status.Conditions = append(all, condition)
}

// write writes the status if it has changed since it was read or written.
func (c *Controller) write(p *kernel.Process, r *round) error {
	before, ok := component.Cached[job](c.Component, store.KeyOf(r.job))
	if ok && before.ResourceVersion == r.ResourceVersion && equality.Semantic.DeepEqual(before.Status, r.Status) {
		return nil
	}
	written, err := component.UpdateStatus(p, c.Component, r.job.DeepCopy())
	if err != nil {
		return err
	}
	r.ResourceVersion = written.ResourceVersion
	return nil
}
