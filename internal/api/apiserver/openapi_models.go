package apiserver

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// models are the schemas of a document. They are derived from the Go types: names from json tags,
// descriptions from swagger docs, the merging of lists from patch tags.
type models struct{ made object }

// Methods in the generated code of the API's types.
type (
	modelNamed interface{ OpenAPIModelName() string }
	documented interface{ SwaggerDoc() map[string]string }
	formatted  interface{ OpenAPISchemaType() []string }
)

func reference(model string) string { return "#/components/schemas/" + model }

// of adds a kind and its list, and returns the name of its model.
func (m *models) of(k *servedKind) string {
	if k.custom != nil {
		return m.ofOwn(k)
	}
	t := reflect.TypeOf(k.newObject()).Elem()
	name := m.model(t)
	m.mark(name, k.gvk)
	listKind := k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List")
	if list, err := k.types().New(listKind); err == nil {
		m.mark(m.model(reflect.TypeOf(list).Elem()), listKind)
	}
	return name
}

func (m *models) mark(model string, gvk schema.GroupVersionKind) {
	m.made[model].(object)["x-kubernetes-group-version-kind"] = []object{gvkObject(gvk)}
}

// model adds a struct and returns its name.
func (m *models) model(t reflect.Type) string {
	name := modelName(t)
	if _, made := m.made[name]; made {
		return name
	}
	entry := object{"type": "object"}
	m.made[name] = entry // added first, because types may contain themselves
	docs := map[string]string{}
	if d, ok := reflect.New(t).Interface().(documented); ok {
		docs = d.SwaggerDoc()
	}
	if text := docs[""]; text != "" {
		entry["description"] = text
	}
	if f, ok := reflect.New(t).Interface().(formatted); ok && len(f.OpenAPISchemaType()) == 0 {
		delete(entry, "type") // any value
		return name
	}
	properties := object{}
	var required []string
	m.fields(t, docs, properties, &required)
	if len(properties) > 0 {
		entry["properties"] = properties
	}
	if len(required) > 0 {
		entry["required"] = required
	}
	return name
}

func modelName(t reflect.Type) string {
	if named, ok := reflect.New(t).Interface().(modelNamed); ok {
		return named.OpenAPIModelName()
	}
	return strings.NewReplacer("/", ".").Replace(t.PkgPath()) + "." + t.Name()
}

func (m *models) fields(t reflect.Type, docs map[string]string, properties object, required *[]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
			continue
		case name == "" && field.Anonymous:
			m.fields(field.Type, swaggerDocs(field.Type), properties, required)
			continue
		case name == "":
			continue
		}
		property := m.schema(field.Type)
		if text := docs[name]; text != "" {
			property = described(property, text)
		}
		if key := field.Tag.Get("patchMergeKey"); key != "" {
			property["x-kubernetes-patch-merge-key"] = key
		}
		if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
			property["x-kubernetes-patch-strategy"] = strategy
		}
		properties[name] = property
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") && field.Type.Kind() != reflect.Pointer {
			*required = append(*required, name)
		}
	}
}

func swaggerDocs(t reflect.Type) map[string]string {
	if d, ok := reflect.New(t).Interface().(documented); ok {
		return d.SwaggerDoc()
	}
	return nil
}

// described adds a description. A reference cannot have a description beside it.
func described(property object, text string) object {
	if ref, ok := property["$ref"]; ok {
		return object{"allOf": []object{{"$ref": ref}}, "default": object{}, "description": text}
	}
	property["description"] = text
	return property
}

// schema returns the schema of a field.
func (m *models) schema(t reflect.Type) object {
	if f, ok := reflect.New(t).Interface().(formatted); ok && len(f.OpenAPISchemaType()) > 0 {
		property := object{"type": f.OpenAPISchemaType()[0]}
		if withFormat, ok := f.(interface{ OpenAPISchemaFormat() string }); ok && withFormat.OpenAPISchemaFormat() != "" {
			property["format"] = withFormat.OpenAPISchemaFormat()
		}
		return property
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.schema(t.Elem())
	case reflect.Struct:
		return object{"$ref": reference(m.model(t))}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "format": "byte"}
		}
		return object{"type": "array", "items": m.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": m.schema(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int32:
		return object{"type": "integer", "format": "int32"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return object{"type": "number", "format": "double"}
	case reflect.String:
		return object{"type": "string"}
	}
	return object{"type": "object"}
}
