package apiserver

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// settleFields checks that the kind supports all labels of a selector.
func (k *servedKind) settleFields(sel fields.Selector) (fields.Selector, error) {
	return sel.Transform(func(label, value string) (string, string, error) {
		switch label {
		case "metadata.name":
			return label, value, nil
		case "metadata.namespace":
			// An object without a namespace is selected by "".
			if k.res.Namespaced || k.custom == nil && kind.Of(k.res).Fields == nil {
				return label, value, nil
			}
		}
		if _, ok := k.field(label); ok {
			return label, value, nil
		}
		return "", "", k.noSuchField(label)
	})
}

// field returns the function that reads the value of a label.
func (k *servedKind) field(label string) (func(store.Object) string, bool) {
	if k.custom == nil {
		if k.form != nil && k.form.Label != nil {
			label = k.form.Label(label)
		}
		value, ok := kind.Of(k.res).Fields[label]
		return value, ok
	}
	for _, f := range k.custom.version.Spec.SelectableFields {
		if strings.TrimPrefix(f.JSONPath, ".") == label {
			path := fieldPath(label)
			return func(obj store.Object) string { return selected(obj, path) }, true
		}
	}
	return nil, false
}

func (k *servedKind) noSuchField(label string) error {
	if of := kind.Of(k.res); of.Fields != nil || k.custom != nil {
		return badRequest(cmp.Or(of.UnknownField, "field label not supported: %s"), label)
	}
	return badRequest("%q is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", label)
}

// fieldsOf returns the values of an object's labels.
func (k *servedKind) fieldsOf(obj store.Object) fields.Fields {
	return objectFields{k, obj}
}

type objectFields struct {
	kind *servedKind
	obj  store.Object
}

func (f objectFields) Has(label string) bool { return true }

func (f objectFields) Get(label string) string {
	switch label {
	case "metadata.name":
		return f.obj.GetName()
	case "metadata.namespace":
		return f.obj.GetNamespace()
	}
	if value, ok := f.kind.field(label); ok {
		return value(f.obj)
	}
	// settleFields has rejected it.
	panic(fmt.Sprintf("apiserver: %s have no field %q", f.kind.res, label))
}
