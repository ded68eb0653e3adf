package kind

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "CSIStorageCapacity",
		traits: conditional, rules: capacityRules,
		Columns: plainColumns,
		Warnings: func(obj, _ store.Object) []string {
			return selectorWarnings(field.NewPath("nodeTopology"), obj.(*storagev1.CSIStorageCapacity).NodeTopology)
		},
	})
}

var capacityRules = rules{
	passes:   []store.Pass{store.PassObject, store.PassMetadata, store.PassChange},
	validate: func(obj store.Object) field.ErrorList { return checkCapacity(obj.(*storagev1.CSIStorageCapacity)) },
	validateUpdate: func(obj, old store.Object) field.ErrorList {
		now, was := obj.(*storagev1.CSIStorageCapacity), old.(*storagev1.CSIStorageCapacity)
		errs := immutable(field.NewPath("nodeTopology"), now.NodeTopology, was.NodeTopology)
		return append(errs, immutable(field.NewPath("storageClassName"), now.StorageClassName, was.StorageClassName)...)
	},
}

func checkCapacity(capacity *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := metav1validation.ValidateLabelSelector(capacity.NodeTopology, metav1validation.LabelSelectorValidationOptions{}, field.NewPath("nodeTopology"))
	errs = append(errs, subdomain(field.NewPath("storageClassName"), capacity.StorageClassName)...)
	if capacity.Capacity != nil && capacity.Capacity.Sign() < 0 {
		errs = append(errs, field.Invalid(field.NewPath("capacity"), capacity.Capacity.String(), "must be greater than or equal to 0"))
	}
	return errs
}
