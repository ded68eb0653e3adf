package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// Triggers holds the times of the pod changes for which the endpoints of services were last
// written. [k8s.io/endpointslice/util/trigger_time_tracker.go]
type Triggers map[store.Key]map[string]time.Time

// Next returns the time of the change for which a service's endpoints are being written, in the
// format of the annotation endpoints.kubernetes.io/last-change-trigger-time. It is empty if the
// time is unknown. For a new service it is the creation time, later the earliest change of a pod's
// readiness.
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

// Forget forgets a deleted service.
func (t Triggers) Forget(s store.Key) { delete(t, s) }

func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
