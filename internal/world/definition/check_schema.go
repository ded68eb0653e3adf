package definition

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// checkSchema returns the field errors of a schema.
func checkSchema(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	sum := sumOf(v)
	if known.isValid(sum) {
		return nil
	}
	errs := mistakesOf(v, at)
	if len(errs) == 0 {
		known.keepValid(sum)
	}
	return errs
}

func mistakesOf(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	props, err := internalSchema(v.Schema)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, "", err.Error())}
	case props == nil:
		return nil
	}
	var errs field.ErrorList
	if v.Subresources != nil && v.Subresources.Status != nil && props.Type != "object" {
		errs = append(errs, field.Invalid(at.Child("type"), props.Type, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`))
	}
	if props.Nullable {
		errs = append(errs, field.Forbidden(at.Child("nullable"), "nullable cannot be true at the root"))
	}
	structural, unreadable := schema.NewStructural(props)
	if unreadable == nil {
		errs = append(errs, schema.ValidateStructural(at, structural)...)
		if len(errs) == 0 {
			errs = append(errs, checkDefaults(structural, at, true)...)
		}
	}
	errs = append(errs, checkProps(props, at)...)
	if len(errs) == 0 && unreadable != nil {
		errs = append(errs, field.Invalid(at, "", unreadable.Error()))
	}
	if len(errs) == 0 && compile != nil {
		errs = append(errs, checkRules(structural, at)...)
	}
	return errs
}

// checkDefaults checks that the schema allows each default and does not prune it.
func checkDefaults(s *schema.Structural, at *field.Path, root bool) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if value := s.Default.Object; value != nil {
		pruned := runtime.DeepCopyJSONValue(value)
		pruning.Prune(pruned, s, false)
		switch {
		case root:
			errs = append(errs, field.Forbidden(at.Child("default"), "must not be set at the root"))
		case !equality.Semantic.DeepEqual(pruned, value):
			errs = append(errs, field.Invalid(at.Child("default"), value, "must not have unknown fields"))
		}
		result := validate.NewSchemaValidator(forValidation(s), nil, "", strfmt.Default).Validate(value)
		errs = append(errs, fieldErrors(at.Child("default"), result)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		errs = append(errs, checkDefaults(&property, at.Child("properties").Key(name), false)...)
	}
	errs = append(errs, checkDefaults(valuesOf(s), at.Child("additionalProperties"), false)...)
	return append(errs, checkDefaults(s.Items, at.Child("items"), false)...)
}

var jsonTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// checkProps returns the field errors of a schema and its subschemas, in addition to those of its
// structure.
func checkProps(s *apiextensions.JSONSchemaProps, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := checkNode(s, at)
	if s.AdditionalProperties != nil {
		errs = append(errs, checkProps(s.AdditionalProperties.Schema, at.Child("additionalProperties"))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		errs = append(errs, checkProps(&property, at.Child("properties").Key(name))...)
	}
	errs = append(errs, checkProps(s.Not, at.Child("not"))...)
	for _, part := range []struct {
		name    string
		schemas []apiextensions.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"anyOf", s.AnyOf}} {
		for i := range part.schemas {
			errs = append(errs, checkProps(&part.schemas[i], at.Child(part.name).Index(i))...)
		}
	}
	if s.Items != nil {
		errs = append(errs, checkProps(s.Items.Schema, at.Child("items"))...)
	}
	return errs
}

func checkNode(s *apiextensions.JSONSchemaProps, at *field.Path) field.ErrorList {
	errs := checkUnsupported(s, at)
	if s.Type != "" && !slices.Contains(jsonTypes, s.Type) {
		errs = append(errs, field.NotSupported(at.Child("type"), s.Type, jsonTypes))
	}
	if s.UniqueItems {
		errs = append(errs, field.Forbidden(at.Child("uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"))
	}
	if more := s.AdditionalProperties; more != nil && len(s.Properties) > 0 && (!more.Allows || more.Schema != nil) {
		errs = append(errs, field.Forbidden(at.Child("additionalProperties"), "additionalProperties and properties are mutual exclusive"))
	}
	if keep := s.XPreserveUnknownFields; keep != nil && !*keep {
		errs = append(errs, field.Invalid(at.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"))
	}
	errs = append(errs, checkListType(s, at)...)
	return append(errs, checkRuleTexts(s, at.Child("x-kubernetes-validations"))...)
}

// checkUnsupported rejects features of JSON schemas that definitions do not support.
func checkUnsupported(s *apiextensions.JSONSchemaProps, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, part := range []struct {
		name  string
		given bool
	}{
		{"id", s.ID != ""}, {"additionalItems", s.AdditionalItems != nil}, {"patternProperties", len(s.PatternProperties) > 0},
		{"definitions", len(s.Definitions) > 0}, {"dependencies", s.Dependencies != nil}, {"$ref", s.Ref != nil},
	} {
		if part.given {
			errs = append(errs, field.Forbidden(at.Child(part.name), part.name+" is not supported"))
		}
	}
	if s.Type == "null" {
		errs = append(errs, field.Forbidden(at.Child("type"), "type cannot be set to null, use nullable as an alternative"))
	}
	if s.Items != nil && len(s.Items.JSONSchemas) > 0 {
		errs = append(errs, field.Forbidden(at.Child("items"), "items must be a schema object and not an array"))
	}
	return errs
}

// checkListType checks that the items of lists that are sets or maps can be distinguished.
func checkListType(s *apiextensions.JSONSchemaProps, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	kind := at.Child("x-kubernetes-list-type")
	switch {
	case s.XListType != nil && s.Type == "":
		errs = append(errs, field.Required(at.Child("type"), "must be array if x-kubernetes-list-type is specified"))
	case s.XListType != nil && s.Type != "array":
		errs = append(errs, field.Invalid(at.Child("type"), s.Type, "must be array if x-kubernetes-list-type is specified"))
	}
	if s.XListType != nil && !slices.Contains([]string{"atomic", "map", "set"}, *s.XListType) {
		errs = append(errs, field.NotSupported(kind, *s.XListType, []string{"atomic", "set", "map"}))
	}
	switch isMap := s.XListType != nil && *s.XListType == "map"; {
	case len(s.XListMapKeys) > 0 && s.XListType == nil:
		errs = append(errs, field.Required(kind, "must be map if x-kubernetes-list-map-keys is non-empty"))
	case len(s.XListMapKeys) > 0 && !isMap:
		errs = append(errs, field.Invalid(kind, *s.XListType, "must be map if x-kubernetes-list-map-keys is non-empty"))
	case isMap:
		errs = append(errs, checkListMap(s, at)...)
	}
	return errs
}

func checkListMap(s *apiextensions.JSONSchemaProps, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.XListMapKeys) == 0 {
		errs = append(errs, field.Required(at.Child("x-kubernetes-list-map-keys"), "must not be empty if x-kubernetes-list-type is map"))
	}
	if s.Items == nil || s.Items.Schema == nil {
		return append(errs, field.Required(at.Child("items"), "must have a schema if x-kubernetes-list-type is map"))
	}
	items, path := s.Items.Schema, at.Child("items")
	if items.Type != "object" {
		return append(errs, field.Invalid(path.Child("type"), items.Type, "must be object if parent array's x-kubernetes-list-type is map"))
	}
	for i, key := range s.XListMapKeys {
		property, ok := items.Properties[key]
		at := path.Child("properties").Key(key)
		switch {
		case !ok:
			errs = append(errs, field.Invalid(path.Child("x-kubernetes-list-map-keys"), s.XListMapKeys, "entries must all be names of item properties"))
		case property.Type == "array" || property.Type == "object":
			errs = append(errs, field.Invalid(at.Child("type"), items.Type, "must be a scalar type if parent array's x-kubernetes-list-type is map"))
		case !slices.Contains(items.Required, key) && property.Default == nil:
			errs = append(errs, field.Required(at.Child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if slices.Contains(s.XListMapKeys[:i], key) {
			errs = append(errs, field.Invalid(path.Child("x-kubernetes-list-map-keys"), s.XListMapKeys, "must not contain duplicate entries"))
		}
	}
	return errs
}

func checkRuleTexts(s *apiextensions.JSONSchemaProps, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range s.XValidations {
		at := at.Index(i)
		switch text, message := strings.TrimSpace(rule.Rule), strings.TrimSpace(rule.Message); {
		case text == "":
			errs = append(errs, field.Required(at.Child("rule"), "rule is not specified"))
		case rule.Message != "" && message == "":
			errs = append(errs, field.Invalid(at.Child("message"), rule.Message, "must be non-empty if specified"))
		case strings.ContainsAny(message, "\n\r"):
			errs = append(errs, field.Invalid(at.Child("message"), rule.Message, "must not contain line breaks"))
		case strings.ContainsAny(text, "\n\r") && message == "":
			errs = append(errs, field.Required(at.Child("message"), "message must be specified if rule contains line breaks"))
		}
		reasons := []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}
		if rule.Reason != nil && !slices.Contains(reasons, string(*rule.Reason)) {
			errs = append(errs, field.NotSupported(at.Child("reason"), string(*rule.Reason), reasons))
		}
	}
	return errs
}

func checkSubresources(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	s := v.Subresources
	if s == nil || s.Scale == nil {
		return nil
	}
	at = at.Child("scale")
	errs := checkReplicasPath(at.Child("specReplicasPath"), s.Scale.SpecReplicasPath, ".spec.")
	errs = append(errs, checkReplicasPath(at.Child("statusReplicasPath"), s.Scale.StatusReplicasPath, ".status.")...)
	if path := s.Scale.LabelSelectorPath; path != nil && *path != "" {
		errs = append(errs, simplePath(at.Child("labelSelectorPath"), *path)...)
		if !strings.HasPrefix(*path, ".spec.") && !strings.HasPrefix(*path, ".status.") {
			errs = append(errs, field.Invalid(at.Child("labelSelectorPath"), *path, "should be a json path under either .spec or .status"))
		}
	}
	return errs
}

func checkReplicasPath(at *field.Path, path, below string) field.ErrorList {
	if path == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := simplePath(at, path)
	if !strings.HasPrefix(path, below) {
		errs = append(errs, field.Invalid(at, path, "should be a json path under "+strings.TrimSuffix(below, ".")))
	}
	return errs
}

func simplePath(at *field.Path, path string) field.ErrorList {
	switch {
	case path == "":
		return field.ErrorList{field.Invalid(at, path, "must not be empty")}
	case path[0] != '.':
		return field.ErrorList{field.Invalid(at, path, "must be a simple json path starting with .")}
	}
	return nil
}

func checkColumns(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range v.AdditionalPrinterColumns {
		errs = append(errs, checkColumn(&v.AdditionalPrinterColumns[i], at.Index(i))...)
	}
	return errs
}

func checkColumn(c *apiextensionsv1.CustomResourceColumnDefinition, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	const types = "must be one of boolean,date,integer,number,string"
	const formats = "must be one of byte,date,date-time,double,float,int32,int64,password"
	if c.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	switch {
	case c.Type == "":
		errs = append(errs, field.Required(at.Child("type"), types))
	case !slices.Contains([]string{"boolean", "date", "integer", "number", "string"}, c.Type):
		errs = append(errs, field.Invalid(at.Child("type"), c.Type, types))
	}
	if c.Format != "" && !slices.Contains(strings.Split(strings.TrimPrefix(formats, "must be one of "), ","), c.Format) {
		errs = append(errs, field.Invalid(at.Child("format"), c.Format, formats))
	}
	if c.JSONPath == "" {
		return append(errs, field.Required(at.Child("JSONPath"), ""))
	}
	return append(errs, simplePath(at.Child("JSONPath"), c.JSONPath)...)
}

// maxSelectable limits the selectable fields of a version.
const maxSelectable = 8

func checkSelectable(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	if len(v.SelectableFields) == 0 {
		return nil
	}
	props, err := internalSchema(v.Schema)
	if err != nil || props == nil {
		return field.ErrorList{field.Invalid(at, "", "may only be set when `version.schema.openAPIV3Schema` is not included")}
	}
	var errs field.ErrorList
	paths := map[string]bool{}
	for i, selectable := range v.SelectableFields {
		at := at.Index(i).Child("jsonPath")
		path := selectable.JSONPath
		switch kind, ok := typeAt(props, path); {
		case path == "":
			errs = append(errs, field.Required(at, ""))
			continue
		case !ok:
			errs = append(errs, field.Invalid(at, path, "is an invalid path: does not refer to a valid field"))
			continue
		case strings.HasPrefix(path, ".metadata"):
			errs = append(errs, field.Invalid(at, path, "must not point to fields in metadata"))
		case kind != "string" && kind != "boolean" && kind != "integer":
			errs = append(errs, field.Invalid(at, path, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."))
		}
		if paths[path] {
			errs = append(errs, field.Duplicate(at, path))
		}
		paths[path] = true
	}
	if len(paths) > maxSelectable {
		errs = append(errs, field.TooMany(at, len(paths), maxSelectable))
	}
	return errs
}

// typeAt returns the type of the field at a path such as ".spec.color".
func typeAt(s *apiextensions.JSONSchemaProps, path string) (string, bool) {
	if !strings.HasPrefix(path, ".") {
		return "", false
	}
	for _, name := range steps(path) {
		property, ok := s.Properties[name]
		if !ok {
			return "", false
		}
		s = &property
	}
	return s.Type, true
}
