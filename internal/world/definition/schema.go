package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// schemas are the forms of a version's schema: for pruning and completion, for the validation of
// objects, and for the validation of a status alone.
type schemas struct {
	structural     *schema.Structural
	object, status *spec.Schema
	rules          *ruled
}

func schemasOf(version *apiextensionsv1.CustomResourceDefinitionVersion) (*schemas, error) {
	sum := sumOf(version)
	if s, ok := known.find(sum); ok {
		return s, nil
	}
	s, err := makeSchemas(version)
	if err == nil {
		known.keep(sum, s)
	}
	return s, err
}

func makeSchemas(version *apiextensionsv1.CustomResourceDefinitionVersion) (*schemas, error) {
	props, err := internalSchema(version.Schema)
	if err != nil || props == nil {
		return &schemas{}, err
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	s := &schemas{structural: structural, object: forValidation(structural)}
	if status, ok := s.object.Properties["status"]; ok {
		s.status = &status
	}
	s.rules, err = rulesOf(structural)
	return s, err
}

// internalSchema converts the schema to the form of the libraries.
func internalSchema(validation *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	if validation == nil || validation.OpenAPIV3Schema == nil {
		return nil, nil
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(validation.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	return &props, nil
}

// forValidation converts the schema to the form of the validator. Values that may be integers or
// strings are checked for one of the two types. Formats that the API server does not check are
// dropped.
func forValidation(structural *schema.Structural) *spec.Schema {
	s := structural.ToKubeOpenAPI()
	settleTypes(s)
	return s
}

func settleTypes(s *spec.Schema) {
	if s == nil {
		return
	}
	if either, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); either {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	if !isFormat(s.Type, s.Format) {
		s.Format = ""
	}
	if s.Items != nil {
		settleTypes(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		settleTypes(s.AdditionalProperties.Schema)
	}
	settleTypes(s.Not)
	for _, nested := range [][]spec.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range nested {
			settleTypes(&nested[i])
		}
	}
	for name, property := range s.Properties { // any order: properties are independent
		settleTypes(&property)
		s.Properties[name] = property
	}
}

// isFormat reports whether values of a type are checked against a format. Other formats are only
// descriptions.
func isFormat(kind spec.StringOrArray, format string) bool {
	switch {
	case len(kind) != 1 || kind[0] == "string":
		return textFormats[strings.ReplaceAll(format, "-", "")]
	case kind[0] == "integer":
		return format == "int32" || format == "int64"
	case kind[0] == "number":
		return format == "float" || format == "double"
	}
	return false
}

var textFormats = map[string]bool{
	"bsonobjectid": true, "uri": true, "email": true, "hostname": true, "ipv4": true, "ipv6": true, "cidr": true, "mac": true,
	"uuid": true, "uuid3": true, "uuid4": true, "uuid5": true, "isbn": true, "isbn10": true, "isbn13": true,
	"creditcard": true, "ssn": true, "hexcolor": true, "rgbcolor": true, "byte": true, "password": true,
	"date": true, "duration": true, "datetime": true, "k8sshortname": true, "k8slongname": true,
}

// Fields returns the siblings of the last name of a path such as spec.disks[0].size, sorted. It
// returns none if any name is permitted.
func (v *Version) Fields(path string) []string {
	at := v.schema.structural
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		name, index, _ := strings.Cut(name, "[")
		at = schemaOf(at, name)
		for range strings.Count(index, "]") {
			at = itemsOf(at)
		}
	}
	if at == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(at.Properties))
}

// Unknown returns the paths in a partial object that name no field of the version.
func (v *Version) Unknown(part map[string]any) []string {
	return v.prune(runtime.DeepCopyJSON(part))
}
