package job

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// isPerIndex reports whether a job counts failures for each index. If one index has failed
// permanently, the other indexes continue. C-JOB-4
func (r *round) isPerIndex() bool { return r.done != nil && r.Spec.BackoffLimitPerIndex != nil }

// judgeIndexes finds the permanently failed indexes, and the failed pods without a successor.
// C-JOB-4
func (r *round) judgeIndexes() {
	if !r.isPerIndex() {
		return
	}
	r.lost = indexes{}
	if before := r.Status.FailedIndexes; before != nil {
		r.lost = parseIndexes(*before, int(*r.Spec.Completions))
	}
	failed := slices.DeleteFunc(slices.Clone(r.tracked), func(pod *corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodFailed || indexOf(r.job, pod) < 0
	})
	for _, pod := range failed {
		action, _ := r.match(pod)
		over := action != batchv1.PodFailurePolicyActionIgnore && failuresOf(pod) >= *r.Spec.BackoffLimitPerIndex
		if over || action == batchv1.PodFailurePolicyActionFailIndex {
			r.lost[indexOf(r.job, pod)] = true
		}
	}
	taken := indexes{}
	for _, pod := range r.active {
		taken[indexOf(r.job, pod)] = true
	}
	r.failing = map[int]*corev1.Pod{}
	slices.SortStableFunc(failed, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(failuresOf(a), failuresOf(b)), endOf(a).Compare(endOf(b)))
	})
	for _, pod := range failed {
		if n := indexOf(r.job, pod); !r.done[n] && !r.lost[n] && !taken[n] {
			r.failing[n] = pod
		}
	}
}

// failuresOf returns the number of pods with the same index that failed before a pod.
func failuresOf(pod *corev1.Pod) int32 {
	n, err := strconv.ParseInt(pod.Annotations[batchv1.JobIndexFailureCountAnnotation], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// isFailing reports whether a failed pod has no successor yet. Until then it keeps its finalizer,
// because the successor inherits its number of failures.
func (r *round) isFailing(pod types.UID) bool {
	if r.verdict != nil || r.DeletionTimestamp != nil {
		return false
	}
	for _, failed := range r.failing {
		if failed.UID == pod {
			return true
		}
	}
	return false
}

// countFailures writes into a new pod the number of failed pods with its index.
func (r *round) countFailures(pod *corev1.Pod, n int) {
	if !r.isPerIndex() {
		return
	}
	count := int32(0)
	if failed := r.failing[n]; failed != nil {
		count = failuresOf(failed)
		if r.counts(failed) {
			count++
		}
	}
	pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(count))
}

// rested returns the indexes without a recent failure. If there is none, it queues the job for the
// end of the shortest wait.
func (c *Controller) rested(r *round, pending []int) (numbers []int) {
	next := maxBackoff
	for _, n := range pending {
		rest := time.Duration(0)
		if failed := r.failing[n]; failed != nil {
			rest = restAfter(int(failuresOf(failed))+1, endOf(failed), c.Kernel.Now())
		}
		if rest == 0 {
			numbers = append(numbers, n)
		}
		next = min(next, rest)
	}
	if len(numbers) == 0 && len(pending) > 0 {
		c.jobs.AddAfter(store.KeyOf(r.job), next)
	}
	return numbers
}
