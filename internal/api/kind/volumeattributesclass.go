package kind

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "VolumeAttributesClass",
		ShortNames: []string{"vac"},
		traits:     clusterScoped, rules: attributesClassRules,
		Columns: []Column{
			named(text("Name", func(c *storagev1.VolumeAttributesClass) string {
				return markDefault(c, "storageclass.kubernetes.io/is-default-class")
			})),
			text("DriverName", func(c *storagev1.VolumeAttributesClass) string { return c.DriverName }),
			ageColumn,
		},
		AnswersDeleted: true,
	})
}

var attributesClassRules = rules[*storagev1.VolumeAttributesClass]{
	admit: func(_ admission, obj *storagev1.VolumeAttributesClass) error {
		obj.SetFinalizers(withFinalizer(obj.GetFinalizers(), "kubernetes.io/vac-protection"))
		return nil
	},
	validate:       checkAttributesClass,
	validateUpdate: checkAttributesClassUpdate,
	passes:         []store.Pass{store.PassMetadata, store.PassChange, store.PassObject},
}

func checkAttributesClass(class *storagev1.VolumeAttributesClass) field.ErrorList {
	errs := provisioner(field.NewPath("driverName"), class.DriverName)
	errs = append(errs, parameters(field.NewPath("parameters"), class.Parameters)...)
	if len(class.Parameters) == 0 {
		errs = append(errs, field.Required(field.NewPath("parameters"), "must contain at least one key/value pair"))
	}
	return errs
}

func checkAttributesClassUpdate(now, was *storagev1.VolumeAttributesClass) field.ErrorList {
	var errs field.ErrorList
	if now.DriverName != was.DriverName {
		errs = append(errs, field.Forbidden(field.NewPath("driverName"), "updates to driverName are forbidden."))
	}
	if immutable(nil, now.Parameters, was.Parameters) != nil {
		errs = append(errs, field.Forbidden(field.NewPath("parameters"), "updates to parameters are forbidden."))
	}
	return errs
}
