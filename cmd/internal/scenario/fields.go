package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/cmd/internal/scenario/expression"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
)

// objectFieldsOf returns the top-level fields of a resource's objects that a file can name.
func objectFieldsOf(res *store.Resource) []string {
	var names []string
	if d := kind.DefinitionOf(res); d != nil {
		names = append(d.StorageVersion.Fields("spec"), "metadata")
	} else {
		for _, f := range strict.Fields(reflect.TypeOf(res.New())) {
			names = append(names, f.Name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "kind" || name == "apiVersion" })
}

// checkFieldsOf reports keys of a partial object that objects of the resource do not have.
func checkFieldsOf(n *strict.Node, res *store.Resource) {
	d := kind.DefinitionOf(res)
	if d == nil {
		checkFields(n, reflect.TypeOf(res.New()))
		return
	}
	var part map[string]any
	n.Decode(&part)
	for _, path := range d.StorageVersion.Unknown(part) {
		name := path[strings.LastIndex(path, ".")+1:]
		keyAt(n, path).ReportUnknown(fmt.Sprintf("unknown field %q", name), name, "a field that "+d.Object.Name+" defines", d.StorageVersion.Fields(path))
	}
	if metadata := n.Value("metadata"); metadata != nil {
		checkFields(metadata, reflect.TypeFor[metav1.ObjectMeta]())
	}
}

// keyAt returns the key at the end of a path such as spec.disks[0].size, or the nearest key to it.
func keyAt(n *strict.Node, path string) *strict.Node {
	key := n
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Items()) {
			n = n.Items()[i]
			continue
		}
		at := slices.IndexFunc(n.Entries(), func(e strict.Entry) bool { return e.Name == step })
		if at < 0 {
			break
		}
		key, n = n.Entries()[at].Key, n.Entries()[at].Value
	}
	return key
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

// isScalar reports whether a struct is one value in JSON, such as a quantity or a time.
func isScalar(t reflect.Type) bool {
	_, ok := reflect.New(t).Interface().(json.Unmarshaler)
	return ok
}

// compileAt compiles a CEL expression and reports its error at its node.
func compileAt(n *strict.Node, text string, compile func(string) (*expression.Expression, error)) *expression.Expression {
	compiled, err := compile(text)
	if err != nil {
		n.Report(fmt.Sprintf("CEL expression %q (%v)", text, err), "a CEL expression that is true or false")
	}
	return compiled
}
