package definition

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
)

// Read converts a client's object to the version: it prunes unknown fields and nulls, and sets
// defaults. It returns the pruned fields. It returns an error if the metadata has another form.
func (v *Version) Read(object map[string]any) (unknown []string, err error) {
	kind, hasKind := object["kind"]
	apiVersion, hasVersion := object["apiVersion"]
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	unknown = append(unknown, v.prune(object)...)
	fieldErr, more := objectmeta.CoerceWithOptions(nil, object, v.schema.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if fieldErr != nil {
		return nil, fieldErr
	}
	if hasKind {
		object["kind"] = kind
	}
	if hasVersion {
		object["apiVersion"] = apiVersion
	}
	if hasMeta {
		if err := objectmeta.SetObjectMeta(object, meta); err != nil {
			return nil, err
		}
	}
	v.Complete(object)
	return append(unknown, more...), nil
}

func (v *Version) prune(object map[string]any) (unknown []string) {
	if v.schema.structural == nil {
		return nil
	}
	unknown = pruning.PruneWithOptions(object, v.schema.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	dropNulls(object, v.schema.structural)
	return unknown
}

// Complete sets the defaults of unset fields.
func (v *Version) Complete(object map[string]any) {
	if v.schema.structural != nil {
		complete(object, v.schema.structural)
	}
}

// dropNulls removes meaningless nulls. A permitted null is a value, and a null with a default is
// replaced by the default.
func dropNulls(value any, s *schema.Structural) {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value { // any order: items are independent
			of := schemaOf(s, name)
			if item == nil && of != nil && !of.Nullable && of.Default.Object == nil {
				delete(value, name)
				continue
			}
			dropNulls(item, of)
		}
	case []any:
		for _, item := range value {
			dropNulls(item, itemsOf(s))
		}
	}
}

func schemaOf(s *schema.Structural, name string) *schema.Structural {
	if s == nil {
		return nil
	}
	if property, ok := s.Properties[name]; ok {
		return &property
	}
	return valuesOf(s)
}

func valuesOf(s *schema.Structural) *schema.Structural {
	if s == nil || s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Structural
}

func itemsOf(s *schema.Structural) *schema.Structural {
	if s == nil {
		return nil
	}
	return s.Items
}

// complete sets the defaults of one value, even inside a default.
func complete(value any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, property := range s.Properties { // any order: properties are independent
			if now, there := value[name]; property.Default.Object != nil && (!there || now == nil && !property.Nullable) {
				value[name] = runtime.DeepCopyJSONValue(property.Default.Object)
			}
		}
		for name, item := range value { // any order: items are independent
			of := schemaOf(s, name)
			if item == nil && of != nil && !of.Nullable {
				item = runtime.DeepCopyJSONValue(of.Default.Object)
				value[name] = item
			}
			complete(item, of)
		}
	case []any:
		for i, item := range value {
			if item == nil && s.Items != nil && !s.Items.Nullable {
				value[i] = runtime.DeepCopyJSONValue(s.Items.Default.Object)
			}
			complete(value[i], s.Items)
		}
	}
}
