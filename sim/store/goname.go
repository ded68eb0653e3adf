package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// goNames encodes an API value under the names of its Go fields, nothing left
// out: the API server quotes values in messages in this form.
type goNames struct{ value any }

// MarshalJSON implements json.Marshaler.
func (g goNames) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	err := writeGoNames(&out, reflect.ValueOf(g.value))
	return out.Bytes(), err
}

func writeGoNames(out *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Invalid:
		out.WriteString("null")
		return nil
	case reflect.Pointer:
		if v.IsNil() {
			out.WriteString("null")
			return nil
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
			return writeGoSlice(out, v)
		}
	}
	if _, ok := v.Interface().(json.Marshaler); ok {
		return writeJSON(out, v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return writeGoNames(out, v.Elem())
	case reflect.Struct:
		return writeGoStruct(out, v)
	}
	return writeJSON(out, v)
}

func writeGoSlice(out *bytes.Buffer, v reflect.Value) error {
	for i := range v.Len() {
		out.WriteByte("[,"[min(i, 1)])
		if err := writeGoNames(out, v.Index(i)); err != nil {
			return err
		}
	}
	if v.Len() == 0 {
		out.WriteByte('[')
	}
	out.WriteByte(']')
	return nil
}

func writeGoStruct(out *bytes.Buffer, v reflect.Value) error {
	separator := "{"
	for i := range v.NumField() {
		fmt.Fprintf(out, "%s%q:", separator, v.Type().Field(i).Name)
		if err := writeGoNames(out, v.Field(i)); err != nil {
			return err
		}
		separator = ","
	}
	if v.NumField() == 0 {
		out.WriteString("{")
	}
	out.WriteString("}")
	return nil
}

func writeJSON(out *bytes.Buffer, v reflect.Value) error {
	encoded, err := json.Marshal(v.Interface())
	out.Write(encoded)
	return err
}
