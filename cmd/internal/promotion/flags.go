package promotion

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// flagsOf are the flags of a driver's sidecars that the scenario gives, by the sidecar's name. Their documentation begins
// with the name of the real program's flag.
func flagsOf(i scenario.Installed) map[string][]string {
	all := map[string][]string{}
	options := i.Driver.Sidecars
	if options.Provisioner.ExtraCreateMetadata == nil {
		options.Provisioner.ExtraCreateMetadata = new(true)
	}
	for _, program := range options.OfController() {
		if flags := given(reflect.ValueOf(program)); len(flags) > 0 {
			all[program.Name()] = flags
		}
	}
	return all
}

// given are the fields of a struct that are flags and not as by default.
func given(v reflect.Value) (flags []string) {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if field.Anonymous {
			flags = append(flags, given(value)...)
			continue
		}
		name, _, found := strings.Cut(strings.SplitN(field.Tag.Get("doc"), " ", 2)[0], ":")
		if !found || !strings.HasPrefix(name, "--") || value.IsZero() {
			continue
		}
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		text := fmt.Sprint(value.Interface())
		if d, ok := value.Interface().(time.Duration); ok {
			text = d.String()
		}
		flags = append(flags, name+"="+text)
	}
	return flags
}
