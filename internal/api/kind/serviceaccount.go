package kind

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "ServiceAccount",
		ShortNames: []string{"sa"},
		rules: rules[*corev1.ServiceAccount]{
			admit:   func(_ admission, obj *corev1.ServiceAccount) error { nameSecretsOnly(obj); return nil },
			prepare: func(obj, _ *corev1.ServiceAccount) { nameSecretsOnly(obj) },
			passes:  []store.Pass{store.PassMetadata, store.PassObject},
		},
		AnswersDeleted: true,
		Subresources: []Subresource{
			{Name: "token", Verbs: []string{"create"}, GVK: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}},
		},
	})
}

// nameSecretsOnly clears all fields of references to secrets except their names.
func nameSecretsOnly(account *corev1.ServiceAccount) {
	for i := range account.Secrets {
		account.Secrets[i] = corev1.ObjectReference{Name: account.Secrets[i].Name}
	}
}
