package strict

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// decode reads the node into v, which must be addressable; f holds the tags of v's field.
func (n *Node) decode(v reflect.Value, f *field) {
	if n.IsNull() && n.document.dialect().NullIsUnset {
		return
	}
	if v.Kind() == reflect.Pointer {
		target := reflect.New(v.Type().Elem())
		n.decode(target.Elem(), f)
		v.Set(target)
		return
	}
	switch self := v.Addr().Interface().(type) {
	case *Raw:
		*self = Raw{node: n}
	case *time.Duration:
		n.decodeDuration(self)
	case Unmarshaler:
		self.UnmarshalStrict(n)
	case json.Unmarshaler:
		n.decodeJSON(self, v.Type(), f)
	case encoding.TextUnmarshaler:
		n.decodeText(self, v.Type(), f)
	default:
		n.decodeKind(v, f)
	}
}

func (n *Node) decodeKind(v reflect.Value, f *field) {
	switch v.Kind() {
	case reflect.String:
		n.decodeString(v, f)
	case reflect.Bool:
		n.decodeBool(v, f)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.decodeInt(v, f)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n.decodeUint(v, f)
	case reflect.Float32, reflect.Float64:
		n.decodeFloat(v, f)
	case reflect.Slice:
		n.decodeSlice(v, f)
	case reflect.Map:
		n.decodeMap(v, f)
	case reflect.Struct:
		n.decodeStruct(v, f)
	case reflect.Interface:
		n.decodeAny(v)
	default:
		panic(fmt.Sprintf("strict: no file can hold a %s; let the type implement Unmarshaler", v.Type()))
	}
}

func (n *Node) decodeSlice(v reflect.Value, f *field) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		n.decodeBytes(v)
		return
	}
	if !n.IsList() {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	items := n.Items()
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		item.decode(list.Index(i), f)
	}
	v.Set(list)
}

func (n *Node) decodeMap(v reflect.Value, f *field) {
	if !n.IsMap() {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	into := reflect.MakeMap(v.Type())
	for _, entry := range n.Entries() {
		value := reflect.New(v.Type().Elem()).Elem()
		entry.Value.decode(value, f)
		into.SetMapIndex(reflect.ValueOf(entry.Name).Convert(v.Type().Key()), value)
	}
	v.Set(into)
}

func (n *Node) decodeStruct(v reflect.Value, f *field) {
	if !n.IsMap() {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	fields := fieldsOf(v.Type())
	byName := map[string]*field{}
	for _, known := range fields {
		byName[known.name] = known
	}
	present := map[string]bool{}
	for _, entry := range n.Entries() {
		known, ok := byName[entry.Name]
		if remedy := refused(v, entry.Name); !ok && remedy != "" {
			entry.Key.Report(fmt.Sprintf("unsupported field %q", entry.Name), remedy)
			continue
		}
		if !ok {
			want := oneOf(names(fields), "field", v.Type().Name())
			if holder := holderOf(entry.Name, fields); holder != "" && Nearest(entry.Name, names(fields)) == "" {
				want = fmt.Sprintf("it below %s, as in %s: {%s: …}", holder, holder, entry.Name)
			}
			entry.Key.ReportUnknown(fmt.Sprintf("unknown field %q", entry.Name), entry.Name, want, names(fields))
			continue
		}
		present[entry.Name] = true
		entry.Value.decode(known.of(v), known)
	}
	for _, absent := range fields {
		if !present[absent.name] {
			n.leaveOut(absent, v)
		}
	}
}

// Refuser is a struct without some fields that users expect. Refused returns the remedies by the
// names of these fields.
type Refuser interface {
	Refused() map[string]string
}

// refused returns the remedy for a refused field, "" for other fields.
func refused(v reflect.Value, name string) string {
	if r, ok := v.Addr().Interface().(Refuser); ok {
		return r.Refused()[name]
	}
	return ""
}

// leaveOut reports a missing required key and sets the default of any other.
func (n *Node) leaveOut(f *field, v reflect.Value) {
	switch {
	case f.required:
		n.ReportMissing(f.name, n.document.want(f.typ, f))
	case f.fallback != "" || f.typ.Kind() == reflect.Struct:
		setDefault(f.of(v), f)
	}
}
