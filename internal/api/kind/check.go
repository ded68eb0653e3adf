package kind

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// invalid returns a field error for each message.
func invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// subdomain checks a name that must be a DNS subdomain.
func subdomain(path *field.Path, name string) field.ErrorList {
	return invalid(path, name, objectname.Subdomain(name, false))
}

// oneOf checks that a value is supported. The supported values must be sorted.
func oneOf[T ~string](path *field.Path, value T, supported ...T) field.ErrorList {
	for _, s := range supported {
		if value == s {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

// immutable checks that a field does not change.
func immutable(path *field.Path, value, old any) field.ErrorList {
	if equality.Semantic.DeepEqual(value, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, goNames{value}, "field is immutable")}
}

// maxDriverName is the longest name of a CSI driver.
const maxDriverName = 63

func driverName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	if len(name) > maxDriverName {
		errs = append(errs, field.TooLong(path, "", maxDriverName))
	}
	return append(errs, invalid(path, name, objectname.Subdomain(strings.ToLower(name), false))...)
}

func qualifiedName(path *field.Path, name string) field.ErrorList {
	return invalid(path, name, objectname.Qualified(name))
}

// The limits of the parameters of a class.
const (
	maxParameters     = 512
	maxParametersSize = 256 * 1024
)

func parameters(path *field.Path, given map[string]string) field.ErrorList {
	if len(given) > maxParameters {
		return field.ErrorList{field.TooLong(path, "", maxParameters)}
	}
	var errs field.ErrorList
	if _, ok := given[""]; ok {
		errs = append(errs, field.Invalid(path, "", "field can not be empty."))
	}
	if sizeOf(given) > maxParametersSize {
		errs = append(errs, field.TooLong(path, "", maxParametersSize))
	}
	return errs
}

func sizeOf(m map[string]string) int {
	size := 0
	for key, value := range m {
		size += len(key) + len(value)
	}
	return size
}

// setDefault sets a pointer that is nil.
func setDefault[T any](at **T, value T) {
	if *at == nil {
		*at = &value
	}
}

// setEmpty sets a string that is empty.
func setEmpty[T ~string](at *T, value T) {
	if *at == "" {
		*at = value
	}
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
