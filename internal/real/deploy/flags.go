package deploy

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// flagName matches the name of the real program's flag, at the beginning of a field's
// documentation.
var flagName = regexp.MustCompile(`^--[a-z0-9-]+`)

// gateName matches the name of the real program's feature gate, also at the beginning of a field's
// documentation.
var gateName = regexp.MustCompile(`^The feature gate ([A-Za-z]+)`)

// gatesFlag sets feature gates, as A=true,B=false.
const gatesFlag = "--feature-gates"

// Flags returns the flags of a sidecar that its options set.
func Flags(options any) (flags []string) {
	var gates []string
	each(reflect.ValueOf(options), gateName, func(name string, value reflect.Value) {
		if !value.IsZero() {
			gates = append(gates, fmt.Sprintf("%s=%v", name, reflect.Indirect(value)))
		}
	})
	if len(gates) > 0 {
		flags = append(flags, gatesFlag+"="+strings.Join(gates, ","))
	}
	each(reflect.ValueOf(options), flagName, func(name string, value reflect.Value) {
		if value.IsZero() {
			return
		}
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		text := fmt.Sprint(value.Interface())
		if d, ok := value.Interface().(time.Duration); ok {
			text = d.String()
		}
		flags = append(flags, name+"="+text)
	})
	return flags
}

// SetFlags sets the options of a sidecar by its flags. It returns the flags without an option.
func SetFlags(options any, flags map[string]string) (unknown []string, err error) {
	known := map[string]bool{}
	if text, given := flags[gatesFlag]; given {
		if known[gatesFlag], err = setGates(options, text); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", gatesFlag, text, err)
		}
	}
	each(reflect.ValueOf(options), flagName, func(name string, value reflect.Value) {
		known[name] = true
		if text, given := flags[name]; given && err == nil {
			if err = set(value, text); err != nil {
				err = fmt.Errorf("%s=%s: %w", name, text, err)
			}
		}
	})
	for name := range flags { // the caller sorts them
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown, err
}

// setGates sets the options for the feature gates in text, and reports whether every gate has an
// option.
func setGates(options any, text string) (all bool, err error) {
	given := map[string]string{}
	for gate := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(gate, "=")
		given[name] = value
	}
	each(reflect.ValueOf(options), gateName, func(name string, value reflect.Value) {
		if text, is := given[name]; is && err == nil {
			err = set(value, text)
			delete(given, name)
		}
	})
	return len(given) == 0, err
}

// each visits the fields of options with documentation that matches the pattern named, and passes
// the name in the match.
func each(v reflect.Value, named *regexp.Regexp, visit func(name string, value reflect.Value)) {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			each(v.Field(i), named, visit)
		} else if found := named.FindStringSubmatch(field.Tag.Get("doc")); found != nil {
			visit(found[len(found)-1], v.Field(i))
		}
	}
}

// set sets a field from a flag's text, parsed like Go's flags.
func set(value reflect.Value, text string) error {
	if value.Kind() == reflect.Pointer {
		value.Set(reflect.New(value.Type().Elem()))
		value = value.Elem()
	}
	switch {
	case value.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		value.SetInt(int64(d))
		return err
	case value.Kind() == reflect.Bool:
		is, err := strconv.ParseBool(text)
		value.SetBool(is)
		return err
	case value.CanInt():
		n, err := strconv.ParseInt(text, 10, 64)
		value.SetInt(n)
		return err
	case value.CanUint():
		n, err := strconv.ParseUint(text, 10, 64)
		value.SetUint(n)
		return err
	case value.CanFloat():
		n, err := strconv.ParseFloat(text, 64)
		value.SetFloat(n)
		return err
	case value.Kind() == reflect.String:
		value.SetString(text)
		return nil
	case value.Type() == reflect.TypeFor[[]string]():
		value.Set(reflect.ValueOf(strings.Split(text, ",")))
		return nil
	}
	return fmt.Errorf("a %s cannot be read from a flag", value.Type())
}
