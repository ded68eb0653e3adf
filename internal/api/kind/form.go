package kind

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// Form is another group or version that serves a kind. Its objects are stored as objects of the
// kind.
type Form struct {
	schema.GroupVersion
	// New makes an empty object.
	New func() store.Object
	// Present converts a stored object to the form, Accept converts it back.
	Present, Accept func(store.Object) store.Object
	// Label returns the kind's field label for a field label of the form; "" if there is none.
	// Default: the same.
	Label func(label string) string
	// Check returns the field errors of the stored object with the form's messages. Default: the
	// kind's own.
	Check func(obj, old store.Object) field.ErrorList
	// Deprecated is the warning for clients that use the form.
	Deprecated string
}

// formWithSameFields returns a version with the fields of the stored one, except the fields that
// its type lacks.
func formWithSameFields(name string, gv schema.GroupVersion, fresh, stored func() store.Object) Form {
	return Form{
		GroupVersion: gv, New: fresh,
		Present: func(obj store.Object) store.Object { return recast(obj, fresh(), gv.WithKind(name)) },
		Accept: func(obj store.Object) store.Object {
			return recast(obj, stored(), schema.GroupVersionKind{Group: gv.Group, Version: "v1", Kind: name})
		},
	}
}

func recast(obj, into store.Object, gvk schema.GroupVersionKind) store.Object {
	if err := CopyFields(obj, into); err != nil {
		panic(fmt.Sprintf("kind: %s as %s: %v", obj.GetName(), gvk, err))
	}
	into.GetObjectKind().SetGroupVersionKind(gvk)
	return into
}

// CopyFields copies the fields that both types have.
func CopyFields(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
