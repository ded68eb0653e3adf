package strict

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Described is a type that briefly describes its values in a file, as in: a duration such as "90s".
type Described interface {
	Wanted() string
}

// want describes the values in a file for a type with the tags of its field.
func (d *Document) want(t reflect.Type, f *field) string {
	t = deref(t)
	if len(f.enum) > 0 {
		return wantEnum(t, f)
	}
	if text, ok := d.dialect().Wants[t]; ok {
		return text
	}
	if t == reflect.TypeFor[time.Duration]() {
		return Duration{}.Wanted()
	}
	if described, ok := reflect.New(t).Interface().(Described); ok {
		return described.Wanted()
	}
	return wantKind(t) + suchAs(t, f.example)
}

func wantEnum(t reflect.Type, f *field) string {
	allowed := oneOf(f.enum, "value", f.name)
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		return wantKind(t) + ", each value " + allowed
	}
	return allowed
}

func wantKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64 text"
		}
		return "a list"
	case reflect.Map:
		return "a map"
	case reflect.Struct:
		return wantStruct(t)
	}
	return "a value"
}

// wantStruct names the required keys of a struct's map, otherwise the optional ones.
func wantStruct(t reflect.Type) string {
	if readsItself(reflect.New(t).Interface()) {
		return "a " + t.Name()
	}
	var required []string
	fields := fieldsOf(t)
	for _, f := range fields {
		if f.required {
			required = append(required, f.name)
		}
	}
	switch {
	case len(required) > 0:
		return "a map with " + strings.Join(required, ", ")
	case len(fields) == 0:
		return "an empty map"
	case len(fields) > maxListed:
		return fmt.Sprintf("a map with fields of %s", t.Name())
	}
	return "a map with any of " + strings.Join(names(fields), ", ")
}

func suchAs(t reflect.Type, example string) string {
	switch {
	case example == "":
		return ""
	case t.Kind() == reflect.String:
		return fmt.Sprintf(" such as %q", example)
	}
	return " such as " + example
}

// wanted describes the type of the pointer's target.
func wanted(into any) string {
	return (&Document{}).want(reflect.TypeOf(into), &field{})
}
