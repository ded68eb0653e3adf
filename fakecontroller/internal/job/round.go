package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// round is one pass over a job: its pods as listed, and the state of the job.
type round struct {
	job
	active      []*corev1.Pod
	terminating int32
	ended       []*corev1.Pod // finished and not counted yet; these still have the finalizer
	tracked     []*corev1.Pod // finished and with the finalizer, counted or not
	succeeded   int32         // including pods that are not counted yet
	failed      int32
	verdict     *verdict // nil while the job continues
	done        indexes  // the indexes with a successful pod; nil if the job is not Indexed
	// For a job with a backoffLimitPerIndex: the permanently failed indexes, and the failed pods
	// without a replacement.
	lost    indexes
	failing map[int]*corev1.Pod
}

// verdict is the end of a job.
type verdict struct {
	first, last     batchv1.JobConditionType
	reason, message string
}

func failure(reason, message string) *verdict {
	return &verdict{batchv1.JobFailureTarget, batchv1.JobFailed, reason, message}
}

func success(reason, message string) *verdict {
	return &verdict{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, reason, message}
}

// look determines the state of a job.
func (c *Controller) look(j job) *round {
	r := &round{job: j, succeeded: j.Status.Succeeded, failed: j.Status.Failed}
	if isIndexed(j) {
		r.done = parseIndexes(j.Status.CompletedIndexes, int(*j.Spec.Completions))
		r.succeeded = 0
	}
	for pod := range store.Indexed[*corev1.Pod](c.Cache, store.OwnerUID, string(j.UID)) {
		if metav1.IsControlledBy(pod, j) {
			r.sort(pod)
		}
	}
	if uncounted := j.Status.UncountedTerminatedPods; uncounted != nil {
		r.succeeded += int32(len(uncounted.Succeeded))
		r.failed += int32(len(uncounted.Failed))
	}
	r.succeeded += int32(len(r.done))
	r.judgeIndexes()
	if j.Status.StartTime == nil && !*j.Spec.Suspend {
		now := metav1.NewTime(c.Kernel.Now()).Rfc3339Copy()
		j.Status.StartTime = &now
	}
	c.failures.note(j.UID, r.ended)
	r.verdict = r.judge(c.Kernel.Now())
	if deadline := j.Spec.ActiveDeadlineSeconds; r.verdict == nil && deadline != nil && j.Status.StartTime != nil {
		c.jobs.AddAfter(store.KeyOf(j), j.Status.StartTime.Add(time.Duration(*deadline)*time.Second).Sub(c.Kernel.Now()))
	}
	return r
}

func (r *round) sort(pod *corev1.Pod) {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if ended && isTracked(pod) {
		r.tracked = append(r.tracked, pod)
	}
	switch {
	case ended && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && !r.isUncounted(pod.UID):
		r.ended = append(r.ended, pod)
		switch {
		case pod.Status.Phase == corev1.PodFailed && !r.counts(pod):
		case pod.Status.Phase == corev1.PodFailed:
			r.failed++
		case r.done == nil:
			r.succeeded++
		case indexOf(r.job, pod) >= 0:
			r.done[indexOf(r.job, pod)] = true
		}
	case ended:
	case pod.DeletionTimestamp != nil:
		r.terminating++
	default:
		r.active = append(r.active, pod)
	}
}

func (r *round) isUncounted(pod types.UID) bool {
	u := r.Status.UncountedTerminatedPods
	return u != nil && (slices.Contains(u.Succeeded, pod) || slices.Contains(u.Failed, pod))
}

// judge decides whether the job has failed, or has succeeded by its policy. The completions are
// known only after its pods have been processed.
func (r *round) judge(now time.Time) *verdict {
	if c := held(r.job, batchv1.JobSuccessCriteriaMet); c != nil {
		return success(c.Reason, c.Message)
	}
	if c := held(r.job, batchv1.JobFailureTarget); c != nil {
		return failure(c.Reason, c.Message)
	}
	if failed := r.failedByPolicy(); failed != nil {
		return failed
	}
	switch spec := &r.Spec; {
	case r.failed > *spec.BackoffLimit, r.restarts() > *spec.BackoffLimit:
		return failure(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case spec.ActiveDeadlineSeconds != nil && r.Status.StartTime != nil && !*spec.Suspend &&
		now.Sub(r.Status.StartTime.Time) >= time.Duration(*spec.ActiveDeadlineSeconds)*time.Second:
		return failure(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	case spec.MaxFailedIndexes != nil && len(r.lost) > int(*spec.MaxFailedIndexes):
		return failure(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case len(r.lost) > 0 && len(r.lost)+len(r.done) >= int(*spec.Completions):
		return failure(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
	return r.succeededByPolicy()
}

// restarts counts the restarts of containers in pods that continue when a container fails. If the
// limit is 0, the first failure exceeds it.
func (r *round) restarts() (count int32) {
	if r.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return 0
	}
	for _, pod := range r.active {
		for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			count += s.RestartCount
		}
	}
	if *r.Spec.BackoffLimit > 0 && count == *r.Spec.BackoffLimit {
		return count + 1
	}
	return count
}

// enough reports whether the job has completed. If it has no number of completions, it has
// completed when one pod has succeeded and the others have ended.
func (r *round) enough() bool {
	if len(r.active) > 0 {
		return false
	}
	if r.Spec.Completions == nil {
		return r.succeeded > 0
	}
	return r.succeeded >= *r.Spec.Completions
}

// wanted returns the number of pods that should run now.
func (r *round) wanted() int {
	switch {
	case *r.Spec.Suspend:
		return 0
	case r.Spec.Completions != nil:
		return max(0, int(min(*r.Spec.Completions-r.succeeded, *r.Spec.Parallelism)))
	case r.succeeded > 0:
		return len(r.active)
	}
	return int(*r.Spec.Parallelism)
}
