package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// SchemaID is the URL of the published schema.
const SchemaID = "https://csisim.dev/schema/v1alpha1/scenario.json"

// Schema returns the JSON Schema of scenario files. It is derived from the tags of the types into
// which the files are read.
func Schema() ([]byte, error) {
	text, err := json.MarshalIndent(strict.Schema(reflect.TypeFor[Scenario](), SchemaID), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render schema: %w", err)
	}
	return append(text, '\n'), nil
}

// partialObject returns the keys of any object's partial manifest.
func partialObject() map[string]any {
	properties := expect.ReferenceKeys()
	for _, res := range store.Resources() {
		for _, name := range objectFieldsOf(res) {
			if _, taken := properties[name]; !taken {
				properties[name] = map[string]any{}
			}
		}
	}
	properties["kind"] = map[string]any{"type": "string", "description": "The object's kind, as in a manifest."}
	properties["apiVersion"] = map[string]any{"type": "string"}
	return properties
}

// referring returns the schema of a map that names an object. The kind of the object may come from
// a definition.
func referring(more map[string]any, structs ...any) map[string]any {
	schema := strict.MapSchema(more, structs...)
	schema["additionalProperties"] = map[string]any{
		"type": "string", "description": "The name of an object of a kind that a CustomResourceDefinition of this scenario brings.",
	}
	return schema
}

// JSONSchema returns the schema of a reference or a partial manifest with conditions.
func (ObjectCondition) JSONSchema() map[string]any {
	return referring(partialObject(), objectFields{})
}

// JSONSchema returns the schema of a condition on an object, on calls, on events or on a
// registration.
func (waitStep) JSONSchema() map[string]any {
	return referring(partialObject(), objectFields{}, calls.Pattern{}, waitFields{})
}

// refTo returns the schema of another type.
func refTo[T any]() map[string]any { return map[string]any{"$ref": reflect.TypeFor[T]()} }
