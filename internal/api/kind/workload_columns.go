package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

func containerColumns[T store.Object](spec func(T) corev1.PodSpec) []Column {
	join := func(part func(corev1.Container) string) func(T) string {
		return func(obj T) string {
			var parts []string
			for _, c := range spec(obj).Containers {
				parts = append(parts, part(c))
			}
			return strings.Join(parts, ",")
		}
	}
	return []Column{
		wide(text("Containers", join(func(c corev1.Container) string { return c.Name }))),
		wide(text("Images", join(func(c corev1.Container) string { return c.Image }))),
	}
}

func selectorColumn[T store.Object](selector func(T) *metav1.LabelSelector) Column {
	return wide(text("Selector", func(obj T) string { return metav1.FormatLabelSelector(selector(obj)) }))
}
