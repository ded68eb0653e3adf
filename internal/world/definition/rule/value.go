package rule

import (
	"encoding/base64"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// valueOf returns a JSON value in the form that rules see. Fields have names that are valid in CEL,
// and numbers and formatted texts have the types of the schema.
func valueOf(value any, s *schema.Structural, root bool) any {
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		return objectOf(v, s, root || s.XEmbeddedResource)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = valueOf(item, s.Items, false)
		}
		return items
	case int64:
		if s.Type == "number" {
			return float64(v)
		}
	case string:
		return textOf(v, s)
	}
	return value
}

func objectOf(object map[string]any, s *schema.Structural, root bool) map[string]any {
	seen := make(map[string]any, len(object))
	for name, item := range object { // any order: names are independent
		property, known := s.Properties[name]
		switch {
		case root && name == "metadata":
			seen[name] = metadataOf(item)
		case known:
			seen[escaped(name)] = valueOf(item, &property, false)
		case s.AdditionalProperties != nil:
			seen[name] = valueOf(item, s.AdditionalProperties.Structural, false)
		case root && (name == "apiVersion" || name == "kind"):
			seen[name] = item
		}
	}
	return seen
}

// metadataOf returns the parts of an object's metadata that rules may read.
func metadataOf(metadata any) map[string]any {
	seen := map[string]any{}
	given, _ := metadata.(map[string]any)
	for _, name := range []string{"name", "generateName"} {
		if value, ok := given[name]; ok {
			seen[name] = value
		}
	}
	return seen
}

func textOf(text string, s *schema.Structural) any {
	if s.ValueValidation == nil {
		return text
	}
	switch s.ValueValidation.Format {
	case "byte":
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			return raw
		}
	case "duration":
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	case "date-time", "datetime":
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at
		}
	case "date":
		if at, err := time.Parse(time.DateOnly, text); err == nil {
			return at
		}
	}
	return text
}

// reserved are the words of CEL that must be escaped as names of fields.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true,
	"else": true, "for": true, "function": true, "if": true, "import": true, "let": true, "loop": true, "package": true,
	"namespace": true, "return": true, "var": true, "void": true, "while": true,
}

var escape = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")

// escaped returns the name of a field in a rule.
func escaped(name string) string {
	if reserved[name] {
		return "__" + name + "__"
	}
	return escape.Replace(name)
}
