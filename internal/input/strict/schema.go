package strict

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"time"
)

// SchemaProvider is a type that describes itself; every Unmarshaler must also be a SchemaProvider.
// In its result, a reflect.Type is a placeholder for the schema of that type, also as the value of
// a "$ref".
type SchemaProvider interface {
	JSONSchema() map[string]any
}

// openAPITypes is implemented by Kubernetes' own scalar types and names their JSON types.
type openAPITypes interface {
	OpenAPISchemaType() []string
}

type openAPIOneOf interface {
	OpenAPIV3OneOfTypes() []string
}

// Schema returns the JSON Schema (draft 2020-12) of files with a root type. It is derived from the
// tags, so an editor accepts exactly the files that Decode accepts. The same types give the same
// schema, byte for byte when marshalled.
func Schema(root reflect.Type, id string) map[string]any {
	g := &generator{definitions: map[string]any{}, names: map[reflect.Type]string{}}
	schema := g.structure(deref(root))
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = id
	if len(g.definitions) > 0 {
		schema["$defs"] = g.definitions
	}
	return schema
}

// generator collects a definition for each named struct, so that types may contain themselves.
type generator struct {
	definitions map[string]any
	names       map[reflect.Type]string
}

func (g *generator) schema(t reflect.Type) map[string]any {
	t = deref(t)
	if t == reflect.TypeFor[time.Duration]() {
		return Duration{}.JSONSchema()
	}
	zero := reflect.New(t).Interface()
	if provider, ok := zero.(SchemaProvider); ok {
		return g.provided(t, provider)
	}
	switch self := zero.(type) {
	case Unmarshaler:
		panic(fmt.Sprintf("strict: %s reads itself and must have JSONSchema, too", t))
	case openAPIOneOf:
		return map[string]any{"type": self.OpenAPIV3OneOfTypes()}
	case openAPITypes:
		return map[string]any{"type": self.OpenAPISchemaType()}
	case json.Unmarshaler:
		return map[string]any{}
	case encoding.TextUnmarshaler:
		return map[string]any{"type": "string"}
	}
	return g.kind(t)
}

func (g *generator) kind(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Int8, reflect.Int16, reflect.Int32:
		half := int64(1) << (t.Bits() - 1)
		return map[string]any{"type": "integer", "minimum": -half, "maximum": half - 1}
	case reflect.Uint, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return map[string]any{"type": "integer", "minimum": 0, "maximum": int64(1)<<t.Bits() - 1}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		return g.define(t, func() map[string]any { return g.structure(t) })
	}
	return map[string]any{}
}

// structure returns the schema of a struct's map.
func (g *generator) structure(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range fieldsOf(t) {
		properties[f.name] = g.property(f)
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// property returns the schema of a field's type, with the additions of its tags.
func (g *generator) property(f *field) map[string]any {
	schema := g.schema(f.typ)
	if f.doc != "" {
		schema["description"] = f.doc
	}
	if f.fallback != "" {
		schema["default"] = literalValue(f.typ, f.fallback)
	}
	if f.example != "" {
		schema["examples"] = []any{literalValue(f.typ, f.example)}
	}
	if len(f.enum) > 0 {
		constrain(schema, f)
	}
	return schema
}

// constrain adds the allowed values: to the items of a list, the values of a map, or the value
// itself.
func constrain(schema map[string]any, f *field) {
	t := deref(f.typ)
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		key := "items"
		if t.Kind() == reflect.Map {
			key = "additionalProperties"
		}
		schema = schema[key].(map[string]any)
		t = deref(t.Elem())
	}
	values := make([]any, len(f.enum))
	for i, value := range f.enum {
		values[i] = literalValue(t, value)
	}
	schema["enum"] = values
}

func literalValue(t reflect.Type, text string) any {
	d := &Document{Positions: Positions{}, lines: [][]byte{nil}}
	value, _ := d.node(literal(t, text), "").plain()
	return value
}

// provided returns a type's own description. A struct's description goes to the definitions,
// because it may contain itself.
func (g *generator) provided(t reflect.Type, provider SchemaProvider) map[string]any {
	describe := func() map[string]any { return g.resolve(provider.JSONSchema()).(map[string]any) }
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[Raw]() && t != reflect.TypeFor[Duration]() {
		return g.define(t, describe)
	}
	return describe()
}

// resolve replaces the types in a description by their schemas.
func (g *generator) resolve(value any) any {
	switch value := value.(type) {
	case reflect.Type:
		return g.schema(value)
	case map[string]any:
		return g.resolveMap(value)
	case []any:
		for i := range value {
			value[i] = g.resolve(value[i])
		}
	case []map[string]any:
		for i := range value {
			value[i] = g.resolveMap(value[i])
		}
	}
	return value
}

func (g *generator) resolveMap(description map[string]any) map[string]any {
	if t, ok := description["$ref"].(reflect.Type); ok {
		delete(description, "$ref")
		for key, value := range g.schema(t) {
			if _, own := description[key]; !own {
				description[key] = value
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(description)) {
		description[key] = g.resolve(description[key])
	}
	return description
}

// define adds a named type's schema to the definitions, once, and returns a reference to it.
func (g *generator) define(t reflect.Type, describe func() map[string]any) map[string]any {
	if t.Name() == "" {
		return describe()
	}
	name, known := g.names[t]
	if !known {
		name = g.freeName(t)
		g.names[t] = name
		g.definitions[name] = nil // reserves the name while the type is described
		g.definitions[name] = describe()
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

// freeName returns the type's name. If another type has this name, the package is its prefix.
func (g *generator) freeName(t reflect.Type) string {
	name := t.Name()
	for {
		if _, taken := g.definitions[name]; !taken {
			return name
		}
		name = path.Base(t.PkgPath()) + "." + name
	}
}

// MapSchema returns the schema of a map with the fields of the structs and more properties.
func MapSchema(more map[string]any, structs ...any) map[string]any {
	properties := map[string]any{}
	for name, property := range more {
		properties[name] = property
	}
	for _, s := range structs {
		for _, f := range Fields(reflect.TypeOf(s)) {
			properties[f.Name] = map[string]any{"$ref": f.Type, "description": f.Doc}
		}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
