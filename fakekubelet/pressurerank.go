package fakekubelet

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/csisim/csisim/internal/world/store"
)

// usageOf returns a pod's usage of a resource.
func (s *Shortage) usageOf(pod *corev1.Pod, resource corev1.ResourceName) int64 {
	if used, said := s.Usage[store.KeyOf(pod)]; said {
		return used
	}
	return cmp.Or(requested(pod, resource), leastUsage)
}

func requested(pod *corev1.Pod, resource corev1.ResourceName) int64 {
	q := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})[resource]
	return q.Value()
}

// rank sorts pods in the order of eviction: pods that use more than they request come first, then
// pods with lower priority, then pods with larger usage beyond their requests. K-EVICT-1
func rank(pods []*podWorker, resource corev1.ResourceName, s *Shortage) {
	beyond := func(w *podWorker) int64 {
		return s.usageOf(w.pod, resource) - requested(w.sized(), resource)
	}
	slices.SortStableFunc(pods, func(a, b *podWorker) int {
		x, y := beyond(a), beyond(b)
		if x > 0 != (y > 0) {
			return cmp.Compare(y, x)
		}
		return cmp.Or(cmp.Compare(priorityOf(a.pod), priorityOf(b.pod)), cmp.Compare(y, x))
	})
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// lowMessage returns the status message of an evicted pod. It attributes the pod's usage beyond its
// requests to the first container.
// [pkg/kubelet/eviction/helpers.go evictionMessage]
func lowMessage(w *podWorker, resource corev1.ResourceName, threshold int64, s *Shortage) string {
	message := fmt.Sprintf("The node was low on resource: %s. Threshold quantity: %s, available: %s. ",
		resource, binary(threshold), binary(threshold-s.Missing))
	first := &w.pod.Spec.Containers[0]
	request := first.Resources.Requests[resource]
	if beyond := s.usageOf(w.pod, resource) - requested(w.pod, resource); beyond > 0 {
		message += fmt.Sprintf("Container %s was using %s, request is %s, has larger consumption of %s. ",
			first.Name, binary(request.Value()+beyond), request.String(), resource)
	}
	return message
}
