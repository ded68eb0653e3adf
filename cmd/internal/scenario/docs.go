package scenario

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim/expect"
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

// readsMore is a step that has other forms besides its own fields.
type readsMore interface{ forms() []any }

// namesObject is implemented by steps that name an object by its kind. The kind is a key of the
// step.
type namesObject interface{ namesObject() }

func (*waitStep) namesObject()   {}
func (*patchStep) namesObject()  {}
func (*deleteStep) namesObject() {}
func (*labelStep) namesObject()  {}

// objectField documents the key that names an object.
func objectField() strict.Field {
	return strict.Field{Name: "KIND", Doc: "The object: its kind as the key, its name as the value, such as pod: web; namespace beside it is default unless given. * in the name " +
		"stands for any text; pv, va and vs can be named by their claim (pv: pvc/data), vsc by its snapshot (vsc: vs/data). Kinds: " + strings.Join(kinds(), ", ") + ", and those of definitions."}
}

// kinds returns the built-in kinds as keys name them.
func kinds() []string {
	names := map[string]bool{}
	for _, res := range (expect.Kinds{}).Names() { // in any order: they become a map
		names[strings.ToLower(res.GVK.Kind)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// stepFields returns the fields that the tags of a step's type document. A reference to an object
// documents itself: its key is the kind, and its value is the name.
func stepFields(t reflect.Type) []strict.Field {
	types := []reflect.Type{t}
	if step, ok := reflect.Zero(t).Interface().(readsMore); ok {
		for _, form := range step.forms() {
			types = append(types, reflect.TypeOf(form))
		}
	}
	var documented []strict.Field
	if _, names := reflect.Zero(t).Interface().(namesObject); names {
		documented = append(documented, objectField())
	}
	for _, t := range types {
		for _, f := range strict.Fields(t) {
			if f.Doc != "" {
				documented = append(documented, f)
			}
		}
	}
	return documented
}
