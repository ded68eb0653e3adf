package kind

import (
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	corev1 "k8s.io/api/core/v1"
)

func init() {
	register(Kind{
		Version: "v1", Name: "ReplicationController",
		ShortNames: []string{"rc"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, OrphansDependents: true,
		Fields: selectable(map[string]func(*corev1.ReplicationController) string{
			"status.replicas": func(o *corev1.ReplicationController) string {
				return strconv.Itoa(int(o.Status.Replicas))
			},
		}),
		Scale: scaleOf(func(o *corev1.ReplicationController) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, labels.FormatLabels(o.Spec.Selector)
		}),
	})
}
