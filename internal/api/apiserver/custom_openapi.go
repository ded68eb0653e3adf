package apiserver

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// modelsOf returns the schemas of kinds and of their lists.
func modelsOf(kinds ...*servedKind) *models {
	m := &models{made: object{}}
	for _, k := range kinds {
		m.of(k)
	}
	return m
}

// ofOwn adds a custom kind, and returns the name of its model.
func (m *models) ofOwn(k *servedKind) string {
	name := customModelName(k.gvk.Group, k.gvk.Version, k.gvk.Kind)
	if _, made := m.made[name]; made {
		return name
	}
	meta := m.model(reflect.TypeFor[metav1.ObjectMeta]())
	schema := k.custom.schema()
	properties, _ := schema["properties"].(object)
	if properties == nil {
		properties = object{}
	}
	docs := metav1.TypeMeta{}.SwaggerDoc()
	properties["apiVersion"] = object{"type": "string", "description": docs["apiVersion"]}
	properties["kind"] = object{"type": "string", "description": docs["kind"]}
	properties["metadata"] = described(object{"$ref": reference(meta)}, "Standard object's metadata.")
	schema["properties"] = properties
	m.made[name] = schema
	m.mark(name, k.gvk)

	list := customModelName(k.gvk.Group, k.gvk.Version, k.custom.listKind)
	m.made[list] = object{
		"type": "object", "description": k.custom.listKind + " is a list of " + k.gvk.Kind, "required": []string{"items"},
		"properties": object{
			"apiVersion": properties["apiVersion"], "kind": properties["kind"],
			"metadata": described(object{"$ref": reference(m.model(reflect.TypeFor[metav1.ListMeta]()))}, "Standard list metadata."),
			"items":    object{"type": "array", "items": object{"$ref": reference(name)}, "description": "List of " + k.gvr.Resource + "."},
		},
	}
	m.mark(list, k.gvk.GroupVersion().WithKind(k.custom.listKind))
	return name
}

// customModelName has the group reversed: "com.example.v1.Gadget".
func customModelName(group, version, kind string) string {
	parts := strings.Split(group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, version, kind), ".")
}

// schema returns the version's own schema in the form of a document.
func (o *customKind) schema() object {
	schema := object{"type": "object"}
	validation := o.version.Spec.Schema
	if validation == nil || validation.OpenAPIV3Schema == nil {
		return schema
	}
	text, err := json.Marshal(validation.OpenAPIV3Schema)
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		panic("apiserver: a schema that was decoded cannot be encoded: " + err.Error())
	}
	return schema
}
