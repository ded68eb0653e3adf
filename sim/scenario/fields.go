package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/csisim/csisim/sim/scenario/expression"
	"github.com/csisim/csisim/sim/scenario/strict"
	"github.com/csisim/csisim/sim/store"
)

// objectFieldsOf are the top-level fields of a resource's objects that a file can name.
func objectFieldsOf(res *store.Resource) []strict.Field {
	var fields []strict.Field
	for _, f := range strict.Fields(reflect.TypeOf(res.New())) {
		if f.Name != "kind" && f.Name != "apiVersion" {
			fields = append(fields, f)
		}
	}
	return fields
}

// checkFields reports keys that an object of the type does not have.
func checkFields(n *strict.Node, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		for _, item := range n.Items() {
			checkFields(item, t.Elem())
		}
	case t.Kind() == reflect.Struct && !isScalar(t):
		checkKeys(n, t)
	}
}

func checkKeys(n *strict.Node, t reflect.Type) {
	var names []string
	types := map[string]reflect.Type{}
	for _, f := range strict.Fields(t) {
		names = append(names, f.Name)
		types[f.Name] = f.Type
	}
	for _, entry := range n.Entries() {
		inner, ok := types[entry.Name]
		if !ok {
			entry.Key.ReportUnknown(fmt.Sprintf("unknown field %q", entry.Name), entry.Name, "a field of "+t.Name(), names)
			continue
		}
		checkFields(entry.Value, inner)
	}
}

// isScalar says whether a struct is one value in JSON, such as a quantity or a time.
func isScalar(t reflect.Type) bool {
	_, ok := reflect.New(t).Interface().(json.Unmarshaler)
	return ok
}

// compileAt compiles a CEL expression and reports at its node what is wrong with it.
func compileAt(n *strict.Node, text string, compile func(string) (*expression.Expression, error)) *expression.Expression {
	compiled, err := compile(text)
	if err != nil {
		n.Report(fmt.Sprintf("CEL expression %q (%v)", text, err), "a CEL expression that is true or false")
	}
	return compiled
}
