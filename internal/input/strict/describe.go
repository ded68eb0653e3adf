package strict

import "reflect"

// Field is one key of a struct's map as its tags describe it, for help and documentation.
type Field struct {
	Name, Doc, Example, Default string
	Enum                        []string
	Required                    bool
	Type                        reflect.Type
}

// Wanted says in a few words what a file must hold for the field.
func (f Field) Wanted() string {
	return (&Document{}).want(f.Type, &field{name: f.Name, enum: f.Enum})
}

// Fields are the keys that a file may hold for a struct, in the order of declaration. A type that reads
// itself, and whatever is no struct, has none.
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
