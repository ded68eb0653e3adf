package strict

import "reflect"

// Field is one key of a struct's map, described by its tags, for help and documentation.
type Field struct {
	Name, Doc, Example, Default string
	Enum                        []string
	Required                    bool
	Type                        reflect.Type
}

// Fields returns the keys of a struct in a file, in the order of declaration. A type with its own
// decoding has no fields here, and neither has any type other than a struct.
func Fields(t reflect.Type) []Field {
	t = deref(t)
	if t.Kind() != reflect.Struct || readsItself(reflect.New(t).Interface()) {
		return nil
	}
	known := fieldsOf(t)
	fields := make([]Field, len(known))
	for i, f := range known {
		fields[i] = Field{
			Name: f.name, Doc: f.doc, Example: f.example, Default: f.fallback,
			Enum: f.enum, Required: f.required, Type: f.typ,
		}
	}
	return fields
}
