package store

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/definition"
)

func init() {
	group("apiextensions.k8s.io", "v1",
		kind{name: "CustomResourceDefinition", traits: clusterScoped | withStatus | ofDefinition, rules: definitionRules,
			fresh: func() Object { return &apiextensionsv1.CustomResourceDefinition{} }},
	)
	definitions = resourceFor[*apiextensionsv1.CustomResourceDefinition]()
}

// definitions is the kind of definitions themselves.
var definitions *Resource

func definitionOf(obj Object) *apiextensionsv1.CustomResourceDefinition {
	return obj.(*apiextensionsv1.CustomResourceDefinition)
}

var definitionRules = rules{
	nameOf: func(obj Object) func(string, bool) []string { return definition.CheckName(definitionOf(obj)) },
	fill: func(obj Object) {
		apiextensionsv1.SetDefaults_CustomResourceDefinition(definitionOf(obj))
	},
	prepare: func(obj, _ Object) {
		d := definitionOf(obj)
		for _, v := range d.Spec.Versions {
			if v.Storage && !slices.Contains(d.Status.StoredVersions, v.Name) {
				d.Status.StoredVersions = append(slices.Clone(d.Status.StoredVersions), v.Name)
			}
		}
	},
	validate: func(obj Object) field.ErrorList { return definition.Check(definitionOf(obj)) },
	validateUpdate: func(obj, old Object) field.ErrorList {
		return definition.CheckUpdate(definitionOf(obj), definitionOf(old))
	},
	terminate: func(now metav1.Time, obj Object) bool {
		d := definitionOf(obj)
		if d.DeletionTimestamp != nil {
			return len(d.Finalizers) > 0
		}
		d.DeletionTimestamp = &now
		d.Finalizers = withFinalizer(d.Finalizers, definition.Cleanup)
		d.Status = *d.Status.DeepCopy()
		definition.SetCondition(d, definition.Terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionPending",
			"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"), now)
		return true
	},
}
