package strict

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// decodeJSON passes the node as JSON to a type that cannot read YAML, such as Kubernetes'
// quantities.
func (n *Node) decodeJSON(into json.Unmarshaler, t reflect.Type, f *field) {
	value, ok := n.plain()
	if !ok {
		return
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = into.UnmarshalJSON(data)
	}
	if err != nil {
		n.ReportWrong(n.wantForeign(t, f, err))
	}
}

func (n *Node) decodeText(into encoding.TextUnmarshaler, t reflect.Type, f *field) {
	text, ok := n.Text()
	if !ok {
		n.ReportWrong(n.wantString(t, f))
		return
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		n.ReportWrong(n.wantForeign(t, f, err))
	}
}

// wantForeign prefers csisim's own description to the type's error, which refers to JSON and Go.
func (n *Node) wantForeign(t reflect.Type, f *field, err error) string {
	if _, ok := n.document.dialect().Wants[t]; ok || f.example != "" {
		return n.document.want(t, f)
	}
	return fmt.Sprintf("a %s (%v)", t.Name(), err)
}

func (n *Node) decodeAny(v reflect.Value) {
	value, ok := n.plain()
	if ok && value != nil {
		v.Set(reflect.ValueOf(value))
	}
}

// plain returns the node as maps, slices and scalars like encoding/json, except that whole numbers
// stay whole. It reports problems inside.
func (n *Node) plain() (any, bool) {
	switch n.yaml.Kind {
	case yaml.MappingNode:
		values := map[string]any{}
		whole := true
		for _, entry := range n.Entries() {
			value, ok := entry.Value.plain()
			values[entry.Name], whole = value, whole && ok
		}
		return values, whole
	case yaml.SequenceNode:
		values := make([]any, 0, len(n.yaml.Content))
		whole := true
		for _, item := range n.Items() {
			value, ok := item.plain()
			values, whole = append(values, value), whole && ok
		}
		return values, whole
	}
	return n.plainScalar()
}

func (n *Node) plainScalar() (any, bool) {
	switch n.tag() {
	case stringTag, mergeTag:
		return n.yaml.Value, true
	case boolTag:
		return n.boolean(), true
	case nullTag:
		return nil, true
	case intTag:
		var whole int64
		if n.isWhole() && n.decodeWhole(&whole) {
			return whole, true
		}
	}
	if number, ok := n.number(); ok {
		return number, true
	}
	n.ReportWrong("a value that JSON can hold")
	return nil, false
}
