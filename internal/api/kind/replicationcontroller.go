package kind

import (
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "ReplicationController",
		ShortNames: []string{"rc"}, Categories: []string{"all"},
		traits: withStatus | withGeneration,
		Fields: map[string]func(store.Object) string{
			"status.replicas": func(o store.Object) string {
				return strconv.Itoa(int(o.(*corev1.ReplicationController).Status.Replicas))
			},
		},
		Scale: scaleOf(func(o *corev1.ReplicationController) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, labels.FormatLabels(o.Spec.Selector)
		}),
	})
}
