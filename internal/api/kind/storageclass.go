package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "StorageClass",
		ShortNames: []string{"sc"},
		traits:     clusterScoped, rules: classRules,
		Columns: classColumns,
		Warnings: fromBoth(func(obj, _ *storagev1.StorageClass) []string {
			return topologyWarnings(obj.AllowedTopologies)
		}),
		AnswersDeleted: true,
	})
}

var classRules = rules[*storagev1.StorageClass]{
	fill:           fillClass,
	validate:       checkClass,
	validateUpdate: checkClassUpdate,
	passes:         []store.Pass{store.PassObject, store.PassMetadata, store.PassChange},
}

func fillClass(class *storagev1.StorageClass) {
	setDefault(&class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	setDefault(&class.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}

func checkClass(class *storagev1.StorageClass) field.ErrorList {
	errs := provisioner(field.NewPath("provisioner"), class.Provisioner)
	errs = append(errs, parameters(field.NewPath("parameters"), class.Parameters)...)
	if *class.ReclaimPolicy != "" {
		errs = append(errs, oneOf(field.NewPath("reclaimPolicy"), *class.ReclaimPolicy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)...)
	}
	errs = append(errs, oneOf(field.NewPath("volumeBindingMode"), *class.VolumeBindingMode,
		storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
	return append(errs, allowedTopologies(field.NewPath("allowedTopologies"), class.AllowedTopologies)...)
}

// allowedTopologies checks the topologies of a class. The real server also compares each term to as
// many empty terms as there are terms.
func allowedTopologies(path *field.Path, terms []corev1.TopologySelectorTerm) (errs field.ErrorList) {
	seen := make([]map[string]sets.Set[string], len(terms))
	for i, term := range terms {
		values, termErrs := topologyTerm(path.Index(i).Child("matchLabelExpressions"), term)
		errs = append(errs, termErrs...)
		for _, other := range seen {
			if equality.Semantic.DeepEqual(values, other) {
				errs = append(errs, field.Duplicate(path.Index(i).Child("matchLabelExpressions"), ""))
			}
		}
		seen = append(seen, values)
	}
	return errs
}

func topologyTerm(path *field.Path, term corev1.TopologySelectorTerm) (keys map[string]sets.Set[string], errs field.ErrorList) {
	keys = map[string]sets.Set[string]{}
	for i, requirement := range term.MatchLabelExpressions {
		at, values := path.Index(i), sets.Set[string]{}
		if len(requirement.Values) == 0 {
			errs = append(errs, field.Required(at.Child("values"), ""))
		}
		for j, value := range requirement.Values {
			if values.Has(value) {
				errs = append(errs, field.Duplicate(at.Child("values").Index(j), value))
			}
			values.Insert(value)
		}
		errs = append(errs, metav1validation.ValidateLabelName(requirement.Key, at.Child("key"))...)
		if _, taken := keys[requirement.Key]; taken {
			errs = append(errs, field.Duplicate(at.Child("key"), requirement.Key))
		}
		keys[requirement.Key] = values
	}
	return keys, errs
}

func checkClassUpdate(now, was *storagev1.StorageClass) field.ErrorList {
	errs := immutable(field.NewPath("parameters"), now.Parameters, was.Parameters)
	errs = append(errs, immutable(field.NewPath("provisioner"), now.Provisioner, was.Provisioner)...)
	errs = append(errs, immutable(field.NewPath("reclaimPolicy"), now.ReclaimPolicy, was.ReclaimPolicy)...)
	return append(errs, immutable(field.NewPath("volumeBindingMode"), now.VolumeBindingMode, was.VolumeBindingMode)...)
}

func provisioner(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return qualifiedName(path, strings.ToLower(name))
}

var classColumns = []Column{
	named(text("Name", func(c *storagev1.StorageClass) string {
		return markDefault(c, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	})),
	text("Provisioner", func(c *storagev1.StorageClass) string { return c.Provisioner }),
	text("ReclaimPolicy", func(c *storagev1.StorageClass) string {
		if c.ReclaimPolicy == nil {
			return "Delete"
		}
		return string(*c.ReclaimPolicy)
	}),
	text("VolumeBindingMode", func(c *storagev1.StorageClass) string {
		if c.VolumeBindingMode == nil {
			return "Immediate"
		}
		return string(*c.VolumeBindingMode)
	}),
	show("AllowVolumeExpansion", "string", func(c *storagev1.StorageClass) any {
		return c.AllowVolumeExpansion != nil && *c.AllowVolumeExpansion
	}),
	ageColumn,
}

// markDefault returns the name of a class, with a note if one of the annotations makes it the
// default.
func markDefault(class store.Object, annotations ...string) string {
	for _, name := range annotations {
		if class.GetAnnotations()[name] == "true" {
			return class.GetName() + " (default)"
		}
	}
	return class.GetName()
}

func topologyWarnings(terms []corev1.TopologySelectorTerm) (texts []string) {
	for i, term := range terms {
		for j, expression := range term.MatchLabelExpressions {
			if text, ok := oldLabels[expression.Key]; ok {
				at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key")
				texts = append(texts, fmt.Sprintf("%s: %s", at, text))
			}
		}
	}
	return texts
}
