package definition

import (
	"encoding/json"
	"math"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Validate returns the field errors of a new object; the store validates its metadata.
func (v *Version) Validate(object map[string]any) field.ErrorList {
	errs := v.schema.check(nil, object)
	errs = append(errs, v.replicas(object)...)
	errs = append(errs, objectmeta.Validate(nil, object, v.schema.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.schema.structural, object)...)
	return append(errs, v.schema.obey(errs, object, nil)...)
}

// ValidateUpdate returns the field errors of a change. Errors in unchanged parts are ignored.
func (v *Version) ValidateUpdate(object, old map[string]any) field.ErrorList {
	errs := v.schema.checkChange(nil, object, old)
	errs = append(errs, v.replicas(object)...)
	errs = append(errs, objectmeta.Validate(nil, object, v.schema.structural, false)...)
	errs = append(errs, v.newListMistakes(object, old)...)
	return append(errs, v.schema.obey(errs, object, old)...)
}

// ValidateStatus returns the field errors of a change of the status.
func (v *Version) ValidateStatus(object, old map[string]any) field.ErrorList {
	var errs field.ErrorList
	if status, ok := object["status"]; ok && v.schema.status != nil {
		errs = v.schema.checkStatusChange(status, old["status"])
	}
	errs = append(errs, v.statusReplicas(object)...)
	errs = append(errs, v.newListMistakes(object, old)...)
	return append(errs, v.schema.obey(errs, object, old)...)
}

func (v *Version) newListMistakes(object, old map[string]any) field.ErrorList {
	if len(listtype.ValidateListSetsAndMaps(nil, v.schema.structural, old)) > 0 {
		return nil
	}
	return listtype.ValidateListSetsAndMaps(nil, v.schema.structural, object)
}

// check validates a value against the schema of an object.
func (s *schemas) check(at *field.Path, value any) field.ErrorList {
	if s.object == nil {
		return nil
	}
	return fieldErrors(at, validate.NewSchemaValidator(s.object, nil, "", strfmt.Default).Validate(value))
}

func (s *schemas) checkChange(at *field.Path, value, old any) field.ErrorList {
	if s.object == nil {
		return nil
	}
	return fieldErrors(at, (&ratchet{schema: s.object, old: old, root: true}).Validate(value))
}

func (s *schemas) checkStatusChange(status, old any) field.ErrorList {
	return fieldErrors(field.NewPath("status"), (&ratchet{schema: s.status, old: old}).Validate(status))
}

// fieldErrors converts the errors of a validator to those of the API server.
func fieldErrors(at *field.Path, result *validate.Result) field.ErrorList {
	var errs field.ErrorList
	for _, err := range result.Errors {
		known, ok := err.(*openapierrors.Validation)
		if !ok {
			errs = append(errs, field.Invalid(at, "", err.Error()))
			continue
		}
		path := at
		if known.Name != "" && known.Name != "." {
			path = path.Child(strings.TrimPrefix(known.Name, "."))
		}
		errs = append(errs, fieldError(path, known))
	}
	return errs
}

func fieldError(path *field.Path, err *openapierrors.Validation) *field.Error {
	value := err.Value
	if value == nil {
		value = ""
	}
	switch err.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(path, "")
	case openapierrors.EnumFailCode:
		return field.NotSupported(path, err.Value, texts(err.Values))
	case openapierrors.TooLongFailCode:
		return field.TooLong(path, "", count(err.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(path, count(err.Value), count(err.Valid))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(path, value, err.Error())
	}
	return field.Invalid(path, value, err.Error())
}

func texts(values []any) []string {
	all := []string{}
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			encoded, _ := json.Marshal(value) // it was JSON
			text = string(encoded)
		}
		all = append(all, text)
	}
	return all
}

func count(value any) int {
	if n, ok := value.(int64); ok {
		return int(n)
	}
	return -1
}

// replicas checks the fields of the scale subresource.
func (v *Version) replicas(object map[string]any) field.ErrorList {
	scale := v.Scale()
	if scale == nil {
		return nil
	}
	return append(number(object, scale.SpecReplicasPath), v.statusReplicas(object)...)
}

func (v *Version) statusReplicas(object map[string]any) field.ErrorList {
	scale := v.Scale()
	if scale == nil {
		return nil
	}
	errs := number(object, scale.StatusReplicasPath)
	if path := scale.LabelSelectorPath; path != nil {
		if text, _, err := unstructured.NestedString(object, steps(*path)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*path), text, err.Error()))
		}
	}
	return errs
}

func number(object map[string]any, path string) field.ErrorList {
	switch n, _, err := unstructured.NestedInt64(object, steps(path)...); {
	case err != nil:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, err.Error())}
	case n < 0:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, "should be less than or equal to 2147483647")}
	}
	return nil
}

// steps returns the names of a path such as ".spec.replicas".
func steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
