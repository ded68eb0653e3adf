package definition

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// ratchet validates a value together with the replaced value. An error in an unchanged part is not
// an error of the update.
type ratchet struct {
	schema  *spec.Schema
	path    string
	old     any
	root    bool
	options []validate.Option
}

// Validate implements validate.ValueValidator.
func (r *ratchet) Validate(value any) *validate.Result {
	options := append([]validate.Option{func(o *validate.SchemaValidatorOptions) {
		o.NewValidatorForField, o.NewValidatorForIndex = r.field, r.item(value)
	}}, r.options...)
	found := validate.NewSchemaValidator(r.schema, nil, r.path, strfmt.Default, options...).Validate(value)
	if !found.IsValid() && equality.Semantic.DeepEqual(value, r.old) {
		return (&validate.Result{}).MergeAsWarnings(found)
	}
	return found
}

// SetPath implements validate.ValueValidator.
func (r *ratchet) SetPath(string) {}

// Applies implements validate.ValueValidator.
func (r *ratchet) Applies(any, reflect.Kind) bool { return true }

func (r *ratchet) field(name string, s *spec.Schema, root any, path string, formats strfmt.Registry, options ...validate.Option) validate.ValueValidator {
	before, _ := r.old.(map[string]any)
	old, ok := before[name]
	if !ok || r.root && (name == "kind" || name == "apiVersion") {
		return validate.NewSchemaValidator(s, root, path, formats, options...)
	}
	return &ratchet{schema: s, path: path, old: old, options: options}
}

// item finds the old item of a list with keys. Items of other lists have no old item.
func (r *ratchet) item(value any) func(int, *spec.Schema, any, string, strfmt.Registry, ...validate.Option) validate.ValueValidator {
	return func(i int, s *spec.Schema, root any, path string, formats strfmt.Registry, options ...validate.Option) validate.ValueValidator {
		now, _ := value.([]any)
		before, _ := r.old.([]any)
		keys, _ := r.schema.Extensions["x-kubernetes-list-map-keys"].([]string)
		if i < len(now) && len(keys) > 0 {
			if old, ok := itemLike(now[i], before, keys); ok {
				return &ratchet{schema: s, path: path, old: old, options: options}
			}
		}
		return validate.NewSchemaValidator(s, root, path, formats, options...)
	}
}

// itemLike finds the item with the same keys.
func itemLike(item any, items []any, keys []string) (any, bool) {
	object, ok := item.(map[string]any)
	if !ok {
		return nil, false
	}
	for _, candidate := range items {
		other, ok := candidate.(map[string]any)
		alike := ok
		for _, key := range keys {
			alike = alike && equality.Semantic.DeepEqual(object[key], other[key])
		}
		if alike {
			return other, true
		}
	}
	return nil, false
}
