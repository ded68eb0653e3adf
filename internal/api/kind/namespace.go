package kind

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Namespace",
		ShortNames: []string{"ns"},
		traits:     clusterScoped | withStatus, rules: namespaceRules,
		Columns: []Column{nameColumn, text("Status", func(n *corev1.Namespace) string { return string(n.Status.Phase) }), ageColumn},
		Fields: selectable(map[string]func(*corev1.Namespace) string{
			"status.phase": func(o *corev1.Namespace) string { return string(o.Status.Phase) },
		}),
		Without:      []string{"deletecollection"},
		Subresources: []Subresource{{Name: "finalize", Verbs: []string{"update"}}},
		Undeletable:  []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic},
	})
}

var namespaceRules = rules[*corev1.Namespace]{
	name: validation.NameIsDNSLabel,
	fill: func(namespace *corev1.Namespace) {
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, namespace.Name)
		setEmpty(&namespace.Status.Phase, corev1.NamespaceActive)
	},
	admit: func(_ admission, namespace *corev1.Namespace) error {
		if !slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes) {
			namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
		return nil
	},
	prepare: func(obj, old *corev1.Namespace) {
		obj.Spec.Finalizers = old.Spec.Finalizers
	},
	passes: []store.Pass{store.PassObject, store.PassMetadata},
	validate: func(obj *corev1.Namespace) (errs field.ErrorList) {
		for _, name := range obj.Spec.Finalizers {
			errs = append(errs, validation.ValidateFinalizerName(string(name), field.NewPath("spec", "finalizers"))...)
			errs = append(errs, store.CheckFinalizer(field.NewPath("spec", "finalizers"), string(name))...)
		}
		return errs
	},
	validateStatus: checkNamespaceStatus,
	held:           func(namespace *corev1.Namespace) bool { return len(namespace.Spec.Finalizers) > 0 },
	terminate: func(now metav1.Time, namespace *corev1.Namespace) bool {
		if namespace.DeletionTimestamp == nil {
			namespace.DeletionTimestamp = &now
			namespace.Status.Phase = corev1.NamespaceTerminating
		}
		return len(namespace.Spec.Finalizers) > 0
	},
}

func checkNamespaceStatus(namespace, _ *corev1.Namespace) field.ErrorList {
	const rule = "may only be '%s' if `deletionTimestamp` is %sempty"
	path := field.NewPath("status", "Phase")
	switch phase := namespace.Status.Phase; {
	case namespace.DeletionTimestamp == nil && phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(path, phase, fmt.Sprintf(rule, corev1.NamespaceActive, ""))}
	case namespace.DeletionTimestamp != nil && phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(path, phase, fmt.Sprintf(rule, corev1.NamespaceTerminating, "not "))}
	}
	return nil
}
