package kind

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mergeLabelKeys converts the label keys in a new pod's affinity and topology spread constraints to
// requirements with the pod's own values. [pkg/registry/core/pod/strategy.go mutatePodAffinity,
// mutateTopologySpreadConstraints]
func mergeLabelKeys(pod *corev1.Pod) {
	if affinity := pod.Spec.Affinity; affinity != nil {
		if with := affinity.PodAffinity; with != nil {
			mergeTermKeys(with.RequiredDuringSchedulingIgnoredDuringExecution, with.PreferredDuringSchedulingIgnoredDuringExecution, pod.Labels)
		}
		if without := affinity.PodAntiAffinity; without != nil {
			mergeTermKeys(without.RequiredDuringSchedulingIgnoredDuringExecution, without.PreferredDuringSchedulingIgnoredDuringExecution, pod.Labels)
		}
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		addRequirements(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
}

func mergeTermKeys(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, labels map[string]string) {
	merge := func(term *corev1.PodAffinityTerm) {
		addRequirements(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
		addRequirements(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
	}
	for i := range preferred {
		merge(&preferred[i].PodAffinityTerm)
	}
	for i := range required {
		merge(&required[i])
	}
}

// addRequirements adds a requirement for each label that the pod has. A missing selector selects
// nothing anyway.
func addRequirements(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if selector == nil {
		return
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: key, Operator: operator, Values: []string{value},
			})
		}
	}
}
