package workload

import corev1 "k8s.io/api/core/v1"

// Tolerates reports whether a pod tolerates a taint.
func Tolerates(pod *corev1.Pod, taint *corev1.Taint) bool {
	for i := range pod.Spec.Tolerations {
		t := &pod.Spec.Tolerations[i]
		sameValue := t.Operator == corev1.TolerationOpExists || t.Value == taint.Value
		if (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) && sameValue {
			return true
		}
	}
	return false
}
