package csiaddons

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The functions below are a short notation for schemas: a type with its description, and the
// constraints on its values.

type (
	schema = apiextensionsv1.JSONSchemaProps
	fields = map[string]schema
)

func text(description string) schema { return schema{Type: "string", Description: description} }

func flag(description string) schema { return schema{Type: "boolean", Description: description} }

func moment(description string) schema {
	return schema{Type: "string", Format: "date-time", Description: description}
}

func number(format, description string) schema {
	return schema{Type: "integer", Format: format, Description: description}
}

func choice(description string, values ...string) schema {
	s := text(description)
	for _, v := range values {
		s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: []byte(`"` + v + `"`)})
	}
	return s
}

func texts(description string) schema { return list(description, schema{Type: "string"}) }

func list(description string, of schema) schema {
	return schema{Type: "array", Description: description, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &of}}
}

func parameters(description string) schema {
	return schema{Type: "object", Description: description, AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
		Allows: true, Schema: &schema{Type: "string"},
	}}
}

func object(description string, properties fields, required ...string) schema {
	return schema{Type: "object", Description: description, Properties: properties, Required: required}
}

// atomic returns an object that server-side apply replaces completely.
func atomic(s schema) schema {
	kind := "atomic"
	s.XMapType = &kind
	return s
}

func between(s schema, low, high float64) schema {
	s.Minimum, s.Maximum = &low, &high
	return s
}

func atLeast(s schema, low float64) schema {
	s.Minimum = &low
	return s
}

func byDefault(s schema, value any) schema {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // a bug in this package
	}
	s.Default = &apiextensionsv1.JSON{Raw: raw}
	return s
}

// rule adds a rule in CEL, with the error for objects that break it.
func rule(s schema, condition, otherwise string) schema {
	s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: condition, Message: otherwise})
	return s
}

// immutable makes a field immutable.
func immutable(s schema, otherwise string) schema { return rule(s, "self == oldSelf", otherwise) }

// whole returns the schema of a kind; required are the required fields of its objects.
func whole(description string, spec, status schema, required ...string) schema {
	return object(description, fields{
		"apiVersion": text("The version of the API."), "kind": text("The kind of the object."),
		"metadata": {Type: "object"}, "spec": spec, "status": status,
	}, required...)
}

// conditions are metav1.Conditions.
func conditions() schema {
	limited := func(s schema, low, high int64, pattern string) schema {
		s.MaxLength, s.Pattern = &high, pattern
		if low > 0 {
			s.MinLength = &low
		}
		return s
	}
	return list("The conditions of the object.", object("", fields{
		"type": limited(text("The type of the condition."), 0, 316,
			`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`),
		"status":             choice("Whether it holds.", "True", "False", "Unknown"),
		"reason":             limited(text("Why, in one word."), 1, 1024, `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`),
		"message":            limited(text("Why, for people."), 0, 32768, ""),
		"lastTransitionTime": moment("The time of the last change of the status."),
		"observedGeneration": atLeast(number("int64", "The generation of the spec that it was found for."), 0),
	}, "lastTransitionTime", "message", "reason", "status", "type"))
}

// reference is a corev1.ObjectReference.
func reference(description string) schema {
	return atomic(object(description, fields{
		"apiVersion": text("Its version of the API."), "kind": text("Its kind."), "namespace": text("Its namespace."), "name": text("Its name."),
		"uid": text("Its uid."), "resourceVersion": text("The version that is meant."), "fieldPath": text("The part of it that is meant."),
	}))
}

// localReferences are corev1.LocalObjectReferences.
func localReferences(description string) schema {
	return list(description, atomic(object("", fields{"name": byDefault(text("The object's name."), "")})))
}
