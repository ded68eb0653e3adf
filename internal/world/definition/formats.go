package definition

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// UnknownFormats returns the formats in a definition's schemas that are never checked.
func UnknownFormats(o *object) []string {
	var found []string
	for _, v := range o.Spec.Versions {
		if v.Schema != nil {
			found = append(found, unknownFormats(v.Schema.OpenAPIV3Schema)...)
		}
	}
	return found
}

func unknownFormats(s *apiextensionsv1.JSONSchemaProps) []string {
	if s == nil {
		return nil
	}
	var found []string
	if s.Format != "" && !isFormat(spec.StringOrArray{s.Type}, s.Format) && !(s.Type == "" && isFormat(nil, s.Format)) {
		found = append(found, s.Format)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		found = append(found, unknownFormats(&property)...)
	}
	if s.Items != nil {
		found = append(found, unknownFormats(s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil {
		found = append(found, unknownFormats(s.AdditionalProperties.Schema)...)
	}
	return found
}
