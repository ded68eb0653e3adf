package kind

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "ServiceAccount",
		ShortNames:     []string{"sa"},
		rules:          rules[*corev1.ServiceAccount]{passes: []store.Pass{store.PassMetadata, store.PassObject}},
		AnswersDeleted: true,
		Subresources: []Subresource{
			{Name: "token", Verbs: []string{"create"}, GVK: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}},
		},
	})
}
