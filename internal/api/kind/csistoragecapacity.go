package kind

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "CSIStorageCapacity",
		traits: conditional, rules: capacityRules,
		Columns: plainColumns,
		Warnings: fromBoth(func(obj, _ *storagev1.CSIStorageCapacity) []string {
			return selectorWarnings(field.NewPath("nodeTopology"), obj.NodeTopology)
		}),
	})
}

var capacityRules = rules[*storagev1.CSIStorageCapacity]{
	passes:   []store.Pass{store.PassObject, store.PassMetadata, store.PassChange},
	validate: checkCapacity,
	validateUpdate: func(now, was *storagev1.CSIStorageCapacity) field.ErrorList {
		errs := immutable(field.NewPath("nodeTopology"), now.NodeTopology, was.NodeTopology)
		return append(errs, immutable(field.NewPath("storageClassName"), now.StorageClassName, was.StorageClassName)...)
	},
}

func checkCapacity(capacity *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := checkSelector(capacity.NodeTopology, field.NewPath("nodeTopology"))
	errs = append(errs, subdomain(field.NewPath("storageClassName"), capacity.StorageClassName)...)
	if capacity.Capacity != nil && capacity.Capacity.Sign() < 0 {
		errs = append(errs, field.Invalid(field.NewPath("capacity"), capacity.Capacity.String(), "must be greater than or equal to 0"))
	}
	return errs
}
