package scenario

import (
	"reflect"

	"github.com/csisim/csisim/internal/input/strict"
)

// StepInfo documents a kind of step.
type StepInfo struct {
	Name    string
	Summary string
	// Fields are the keys of the step's map; a step that is a single value has none.
	Fields []strict.Field
	// Example is a step of this kind in YAML.
	Example string
}

// Steps documents every kind of step, sorted by name.
func Steps() []StepInfo {
	var all []StepInfo
	for _, variant := range steps.All() {
		all = append(all, StepInfo{
			Name: variant.Name, Summary: variant.Doc, Example: examples[variant.Name], Fields: stepFields(variant.Type),
		})
	}
	return all
}

// readsMore is a step that has other forms than its own fields.
type readsMore interface{ forms() []any }

// stepFields are the fields of a step's type that its tags document. A reference to an object documents
// itself: it is the kind as key and the name as value.
func stepFields(t reflect.Type) []strict.Field {
	types := []reflect.Type{t}
	if step, ok := reflect.Zero(t).Interface().(readsMore); ok {
		for _, form := range step.forms() {
			types = append(types, reflect.TypeOf(form))
		}
	}
	var documented []strict.Field
	for _, t := range types {
		for _, f := range strict.Fields(t) {
			if f.Doc != "" {
				documented = append(documented, f)
			}
		}
	}
	return documented
}
