package strict

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is one key of a struct's map, described by its tags.
type field struct {
	name     string
	doc      string
	example  string
	fallback string // the default tag
	enum     []string
	required bool
	typ      reflect.Type
	index    []int // for reflect's FieldByIndex
}

// listed caches fieldsOf by type: files have many objects of few types.
var listed sync.Map

// fieldsOf lists the keys of a struct in a file, including those of embedded structs, in the order
// of declaration. An outer key hides an embedded one of the same name. Callers must not modify
// them.
func fieldsOf(t reflect.Type) []*field {
	if known, ok := listed.Load(t); ok {
		return known.([]*field)
	}
	known, _ := listed.LoadOrStore(t, listFields(t))
	return known.([]*field)
}

// holderOf returns the only field of a struct that itself has a field with the given name; "" if
// there is none, or if there are several.
func holderOf(name string, fields []*field) (holder string) {
	for _, f := range fields {
		inner := deref(f.typ)
		if inner.Kind() != reflect.Struct {
			continue
		}
		if slices.ContainsFunc(fieldsOf(inner), func(in *field) bool { return in.name == name }) {
			if holder != "" {
				return ""
			}
			holder = f.name
		}
	}
	return holder
}

func listFields(t reflect.Type) []*field {
	var fields []*field
	place := map[string]int{}
	for _, f := range allFields(t, nil) {
		at, known := place[f.name]
		switch {
		case !known:
			place[f.name] = len(fields)
			fields = append(fields, f)
		case len(f.index) < len(fields[at].index):
			fields[at] = f
		}
	}
	return fields
}

func allFields(t reflect.Type, prefix []int) []*field {
	var fields []*field
	for i := range t.NumField() {
		member := t.Field(i)
		index := append(prefix[:len(prefix):len(prefix)], i)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		inner := deref(member.Type)
		inline := member.Anonymous && name == "" || options == "inline"
		switch {
		case name == "-" && options == "":
		case inline && inner.Kind() == reflect.Struct:
			fields = append(fields, allFields(inner, index)...)
		case member.IsExported():
			fields = append(fields, newField(member, name, index))
		}
	}
	return fields
}

func newField(member reflect.StructField, name string, index []int) *field {
	f := &field{
		name:     name,
		doc:      member.Tag.Get("doc"),
		example:  member.Tag.Get("example"),
		fallback: member.Tag.Get("default"),
		required: member.Tag.Get("want") == "required",
		typ:      member.Type,
		index:    index,
	}
	if name == "" {
		f.name = member.Name
	}
	if enum := member.Tag.Get("enum"); enum != "" {
		f.enum = strings.Split(enum, "|")
	}
	return f
}

// of returns the field of a struct, and allocates embedded pointers on its path.
func (f *field) of(v reflect.Value) reflect.Value {
	for i, at := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v
}

func names(fields []*field) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return all
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
