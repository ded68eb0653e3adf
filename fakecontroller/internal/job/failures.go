package job

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The first and the longest delay before a job replaces a failed pod.
const (
	firstBackoff = 10 * time.Second
	maxBackoff   = 10 * time.Minute
)

// failures are the failures of jobs since their last success.
type failures map[types.UID]*streak

type streak struct {
	count   int
	last    time.Time
	counted map[types.UID]bool
}

// note counts the finished pods of a job, each once, in the order of their ends.
func (f failures) note(of types.UID, ended []*corev1.Pod) {
	ended = slices.Clone(ended)
	slices.SortStableFunc(ended, func(a, b *corev1.Pod) int { return endOf(a).Compare(endOf(b)) })
	for _, pod := range ended {
		s := f[of]
		if s == nil {
			s = &streak{counted: map[types.UID]bool{}}
			f[of] = s
		}
		switch {
		case s.counted[pod.UID]:
			continue
		case pod.Status.Phase == corev1.PodSucceeded:
			s.count = 0
		default:
			s.count++
			s.last = endOf(pod)
		}
		s.counted[pod.UID] = true
	}
}

// rest returns how long a job has to wait until it may create pods again.
func (f failures) rest(of types.UID, now time.Time) time.Duration {
	s := f[of]
	if s == nil || s.count == 0 {
		return 0
	}
	return restAfter(s.count, s.last, now)
}

// restAfter returns the time to wait after a number of failures, given the time of the last
// failure.
func restAfter(count int, last, now time.Time) time.Duration {
	backoff := firstBackoff
	for i := 1; i < count && backoff < maxBackoff; i++ {
		backoff *= 2
	}
	return max(0, last.Add(min(backoff, maxBackoff)).Sub(now))
}

// endOf returns the time at which the last container of a pod ended. It is not before the pod's
// deletion or, if the pod was not deleted, its creation.
func endOf(pod *corev1.Pod) time.Time {
	end := pod.CreationTimestamp.Time
	if pod.DeletionTimestamp != nil {
		end = pod.DeletionTimestamp.Time
	}
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && cmp.Compare(t.FinishedAt.UnixNano(), end.UnixNano()) > 0 {
			end = t.FinishedAt.Time
		}
	}
	return end
}
