package kind

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "ConfigMap",
		ShortNames: []string{"cm"},
		rules:      configMapRules,
		Columns:    []Column{nameColumn, show("Data", "string", func(c *corev1.ConfigMap) any { return int64(len(c.Data) + len(c.BinaryData)) }), ageColumn},
	})
}

var configMapRules = rules[*corev1.ConfigMap]{
	passes:   []store.Pass{store.PassMetadata, store.PassChange, store.PassObject},
	validate: checkConfigMap,
	validateUpdate: func(now, was *corev1.ConfigMap) field.ErrorList {
		if was.Immutable == nil || !*was.Immutable {
			return nil
		}
		errs := append(staysImmutable(now.Immutable), sealed("data", now.Data, was.Data)...)
		return append(errs, sealed("binaryData", now.BinaryData, was.BinaryData)...)
	},
}

func checkConfigMap(config *corev1.ConfigMap) (errs field.ErrorList) {
	size := 0
	for _, key := range sortedKeys(config.Data) {
		errs = append(errs, invalid(field.NewPath("data").Key(key), key, utilvalidation.IsConfigMapKey(key))...)
		if _, twice := config.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(config.Data[key])
	}
	for _, key := range sortedKeys(config.BinaryData) {
		errs = append(errs, invalid(field.NewPath("binaryData").Key(key), key, utilvalidation.IsConfigMapKey(key))...)
		size += len(config.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return slices.Clip(errs)
}
