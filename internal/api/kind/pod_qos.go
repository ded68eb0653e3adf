package kind

import corev1 "k8s.io/api/core/v1"

// qosClass returns the QoS class of a pod. It derives it from the pod-level requests and limits for
// cpu and memory if they are set, otherwise from its containers.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	var all []corev1.ResourceRequirements
	if whole := pod.Spec.Resources; whole != nil {
		all = append(all, *whole)
	} else {
		for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range containers {
				all = append(all, containers[i].Resources)
			}
		}
	}
	guaranteed, asks := true, false
	for _, r := range all {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := r.Requests[name], r.Limits[name]
			asks = asks || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
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
