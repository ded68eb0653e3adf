package deploy

import (
	"fmt"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schemaOf returns the schema of a Go type of the API: its fields with their types. Fields without
// omitempty are required.
func schemaOf(value any) apiextensionsv1.JSONSchemaProps { return schemaOfType(reflect.TypeOf(value)) }

func schemaOfType(t reflect.Type) apiextensionsv1.JSONSchemaProps {
	switch t {
	case reflect.TypeFor[metav1.ObjectMeta]():
		return apiextensionsv1.JSONSchemaProps{Type: "object"} // the API server validates it
	case reflect.TypeFor[metav1.Time]():
		return apiextensionsv1.JSONSchemaProps{Type: "string", Format: "date-time"}
	case reflect.TypeFor[resource.Quantity]():
		return apiextensionsv1.JSONSchemaProps{XIntOrString: true}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOfType(t.Elem())
	case reflect.String:
		return apiextensionsv1.JSONSchemaProps{Type: "string"}
	case reflect.Bool:
		return apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	case reflect.Int32, reflect.Int64:
		return apiextensionsv1.JSONSchemaProps{Type: "integer", Format: t.Kind().String()}
	case reflect.Map:
		of := schemaOfType(t.Elem())
		return apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &of}}
	case reflect.Slice:
		of := schemaOfType(t.Elem())
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &of}}
	case reflect.Struct:
		return structSchema(t)
	}
	// A test makes all schemas.
	panic(fmt.Sprintf("a kind of snapshots has a field of type %s, for which there is no schema", t))
}

func structSchema(t reflect.Type) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range t.NumField() {
		field := t.Field(i)
		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" { // inline, like the TypeMeta
			continue
		}
		s.Properties[name] = schemaOfType(field.Type)
		if field.Type.Kind() != reflect.Pointer && !strings.Contains(rest, "omitempty") {
			s.Required = append(s.Required, name)
		}
	}
	return s
}
