package strict

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Variants are the named forms of T. A file has one of the variants as a map with its name as the
// only key: wait: {pod: web-0}. Each form is a struct that registers itself, usually in its file's
// init.
type Variants[T any] struct {
	noun   string
	byName map[string]Variant
}

// Variant is one form: its key, a sentence of documentation, and its struct type.
type Variant struct {
	Name, Doc string
	Type      reflect.Type
}

// NewVariants makes an empty registry. The noun is the word for a form in messages: step, fault.
func NewVariants[T any](noun string) *Variants[T] {
	return &Variants[T]{noun: noun, byName: map[string]Variant{}}
}

// Register adds a form; the prototype is a struct, or a pointer to one, of the form's type. A
// duplicate name is a bug in the program and panics.
func (v *Variants[T]) Register(name, doc string, prototype T) {
	if _, taken := v.byName[name]; taken {
		panic(fmt.Sprintf("strict: %s %s is registered twice", v.noun, name))
	}
	v.byName[name] = Variant{Name: name, Doc: doc, Type: reflect.TypeOf(prototype)}
}

// All lists the forms by name.
func (v *Variants[T]) All() []Variant {
	all := make([]Variant, 0, len(v.byName))
	for _, name := range v.names() {
		all = append(all, v.byName[name])
	}
	return all
}

// Decode reads the key and its form. ok is false if no form could be read. The readable part of a
// form with problems in its own fields is returned.
func (v *Variants[T]) Decode(n *Node) (name string, value T, ok bool) {
	entry, ok := v.only(n)
	if !ok {
		return "", value, false
	}
	variant, ok := v.byName[entry.Name]
	if !ok {
		v.reportUnknown(entry)
		return "", value, false
	}
	form := reflect.New(deref(variant.Type))
	entry.Value.decodeForm(form.Elem())
	if variant.Type.Kind() != reflect.Pointer {
		form = form.Elem()
	}
	return entry.Name, form.Interface().(T), true
}

// decodeForm reads a form; a key without a value is the form with nothing set.
func (n *Node) decodeForm(form reflect.Value) {
	if n.IsNull() && form.Kind() == reflect.Struct {
		empty := *n.yaml
		empty.Kind, empty.Tag, empty.Value = yaml.MappingNode, "", ""
		n = &Node{document: n.document, yaml: &empty, path: n.path}
	}
	n.decode(form, &field{})
}

// only returns the one key of the map, or reports the mistake.
func (v *Variants[T]) only(n *Node) (Entry, bool) {
	if !n.IsMap() {
		n.ReportWrong(v.wantOne())
		return Entry{}, false
	}
	entries := n.Entries()
	if len(entries) == 1 {
		return entries[0], true
	}
	if len(entries) == 0 {
		n.Report("an empty map", v.wantOne())
		return Entry{}, false
	}
	found := make([]string, len(entries))
	for i, entry := range entries {
		found[i] = entry.Name
	}
	want := "one key, the name of the " + v.noun
	if _, named := v.byName[found[0]]; named && entries[0].Value.IsNull() {
		want = fmt.Sprintf("%s indented deeper, to stand inside of %s", strings.Join(found[1:], ", "), found[0])
	}
	n.Report(fmt.Sprintf("%d keys (%s)", len(found), strings.Join(found, ", ")), want)
	return Entry{}, false
}

func (v *Variants[T]) wantOne() string {
	return "a map with one key, the name of the " + v.noun + ": " + strings.Join(v.names(), ", ")
}

func (v *Variants[T]) reportUnknown(entry Entry) {
	known := v.names()
	entry.Key.ReportUnknown(fmt.Sprintf("unknown %s %q", v.noun, entry.Name), entry.Name, "one of "+strings.Join(known, ", "), known)
}

func (v *Variants[T]) names() []string { return slices.Sorted(maps.Keys(v.byName)) }

// JSONSchema describes a map with exactly one key, the name of a form.
func (v *Variants[T]) JSONSchema() map[string]any {
	properties := map[string]any{}
	for _, variant := range v.All() {
		form := map[string]any{"$ref": variant.Type}
		property := map[string]any{"description": variant.Doc, "$ref": variant.Type}
		if mayBeEmpty(variant.Type) {
			property = map[string]any{"description": variant.Doc, "anyOf": []any{form, map[string]any{"type": "null"}}}
		}
		properties[variant.Name] = property
	}
	return map[string]any{
		"type":                 "object",
		"properties":           properties,
		"additionalProperties": false,
		"minProperties":        1,
		"maxProperties":        1,
	}
}

func mayBeEmpty(t reflect.Type) bool {
	t = deref(t)
	return t.Kind() == reflect.Struct && !slices.ContainsFunc(fieldsOf(t), func(f *field) bool { return f.required })
}
