package kind

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	definitionResource = register(Kind{
		Group: "apiextensions.k8s.io", Version: "v1", Name: "CustomResourceDefinition",
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"},
		traits: clusterScoped | withStatus | ofDefinition, rules: definitionRules,
		fresh:          func() store.Object { return &apiextensionsv1.CustomResourceDefinition{} },
		Columns:        plainColumns,
		Warnings:       fromBoth(formatWarnings),
		AnswersDeleted: true,
	})
}

// definitionResource is the resource of the definitions themselves.
var definitionResource *store.Resource

var definitionRules = rules[*apiextensionsv1.CustomResourceDefinition]{
	nameOf: definition.CheckName,
	fill:   apiextensionsv1.SetDefaults_CustomResourceDefinition,
	prepare: func(d, _ *apiextensionsv1.CustomResourceDefinition) {
		for _, v := range d.Spec.Versions {
			if v.Storage && !slices.Contains(d.Status.StoredVersions, v.Name) {
				d.Status.StoredVersions = append(slices.Clone(d.Status.StoredVersions), v.Name)
			}
		}
	},
	validate:       definition.Check,
	validateUpdate: definition.CheckUpdate,
	terminate: func(now metav1.Time, d *apiextensionsv1.CustomResourceDefinition) bool {
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
	observe: func(c *cluster, d, old *apiextensionsv1.CustomResourceDefinition) { c.definitions.observe(d, old) },
}

func formatWarnings(d, old *apiextensionsv1.CustomResourceDefinition) []string {
	var known []string
	if old != nil {
		known = definition.UnknownFormats(old)
	}
	var texts []string
	for _, format := range definition.UnknownFormats(d) {
		if !slices.Contains(known, format) {
			texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return texts
}
