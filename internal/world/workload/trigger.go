package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// Triggers remembers what the endpoints of services were written for last.
// [k8s.io/endpointslice/util/trigger_time_tracker.go]
type Triggers map[store.Key]map[string]time.Time

// Next returns when what a service's endpoints are now written for happened, in the form of the
// annotation endpoints.kubernetes.io/last-change-trigger-time; empty if that is not known. For a new
// service it is its creation, later the earliest change of a pod's readiness.
func (t Triggers) Next(s *corev1.Service, pods []*corev1.Pod) string {
	last, known := t[store.KeyOf(s)]
	times, first := map[string]time.Time{}, time.Time{}
	for _, pod := range pods {
		at := readySince(pod)
		if at.IsZero() {
			continue
		}
		times[pod.Name] = at
		if at.After(last[pod.Name]) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	t[store.KeyOf(s)] = times
	if !known {
		first = s.CreationTimestamp.Time
	}
	if first.IsZero() {
		return ""
	}
	return first.UTC().Format(time.RFC3339Nano)
}

// Forget forgets a service that is gone.
func (t Triggers) Forget(s store.Key) { delete(t, s) }

func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
