package scenario

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
)

// CSIDriver is the spec of a driver's CSIDriver object.
type CSIDriver struct{ spec storagev1.CSIDriverSpec }

// UnmarshalStrict reads the fields with Kubernetes' names.
func (d *CSIDriver) UnmarshalStrict(n *strict.Node) { n.Decode(&d.spec) }

// JSONSchema permits any map: Kubernetes defines the fields.
func (CSIDriver) JSONSchema() map[string]any { return map[string]any{"type": "object"} }

// object returns the object of a driver.
func (d *CSIDriver) object(driver string) store.Object {
	return &storagev1.CSIDriver{
		TypeMeta:   metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "CSIDriver"},
		ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: *d.spec.DeepCopy(),
	}
}

// checkCSIDriver reports values that the API server refuses.
func (c *checker) checkCSIDriver(driver string, d *CSIDriver) {
	if d == nil {
		return
	}
	o := d.object(driver)
	if driver == "" {
		o.SetName("driver.example.com") // the name is known when the driver runs
	}
	res, _ := store.ResourceOf(o)
	for _, cause := range causes(c.definitions.store.Validate(res, o)) {
		c.report("csiDriver"+pathInFile(cause.Field)[len("spec"):], cause.Message, accepted)
	}
}
