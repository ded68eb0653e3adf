package strict

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// setDefault sets the defaults of a value that the file omits, and of the values inside it. A
// default that does not fit its field is a bug in the program, not in the file.
func setDefault(v reflect.Value, f *field) {
	if f.fallback != "" {
		d := &Document{Source: Source{File: "default"}, Positions: Positions{}, lines: [][]byte{nil}}
		d.node(literal(f.typ, f.fallback), "").decode(v, f)
		if len(d.problems) > 0 {
			panic(fmt.Sprintf("strict: default of field %s: %v", f.name, d.problems))
		}
		return
	}
	if v.Kind() != reflect.Struct || readsItself(v.Addr().Interface()) {
		return
	}
	for _, inner := range fieldsOf(v.Type()) {
		if inner.fallback != "" || inner.typ.Kind() == reflect.Struct {
			setDefault(inner.of(v), inner)
		}
	}
}

// readsItself reports whether a struct has its own form, so that its fields are not fields of the
// file. A struct that implements Unmarshaler usually has a shorthand, and its defaults apply
// nevertheless.
func readsItself(pointer any) bool {
	switch pointer.(type) {
	case *Raw, json.Unmarshaler, encoding.TextUnmarshaler:
		return true
	}
	return false
}

// literal parses the text of a tag. Strings need no quotes there.
func literal(t reflect.Type, text string) *yaml.Node {
	if deref(t).Kind() == reflect.String {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: stringTag, Value: text}
	}
	roots, err := parseAll([]byte(text))
	if err != nil || len(roots) != 1 {
		panic(fmt.Sprintf("strict: tag %q of a %s is not YAML: %v", text, t, err))
	}
	return roots[0]
}
