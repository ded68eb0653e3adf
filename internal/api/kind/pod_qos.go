package kind

import corev1 "k8s.io/api/core/v1"

// qosClass sorts a pod by what its containers request and limit of cpu and
// memory.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	guaranteed, asks := true, false
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for _, c := range containers {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
				asks = asks || !request.IsZero() || !limit.IsZero()
				guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
			}
		}
	}
	switch {
	case !asks:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
