package store

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalid makes one mistake of each message.
func invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// subdomain checks a name that has to be a DNS subdomain.
func subdomain(path *field.Path, name string) field.ErrorList {
	return invalid(path, name, subdomainName(name, false))
}

// oneOf checks that a value is among the supported ones, which come sorted.
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
	return append(errs, invalid(path, name, utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}

func qualifiedName(path *field.Path, name string) field.ErrorList {
	return invalid(path, name, utilvalidation.IsQualifiedName(name))
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

// finalizerNames checks that finalizers without a domain are well known.
func (r *Resource) finalizerNames(obj Object) field.ErrorList {
	if r.anyFinalizer {
		return nil
	}
	var errs field.ErrorList
	for i, name := range obj.GetFinalizers() {
		if !isFinalizer(name) {
			errs = append(errs, notAFinalizer(field.NewPath("metadata", "finalizers").Index(i), name))
		}
	}
	return errs
}

// isFinalizer reports whether a finalizer has a domain or is well known.
func isFinalizer(name string) bool {
	return strings.Contains(name, "/") ||
		name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents || name == string(corev1.FinalizerKubernetes)
}

func notAFinalizer(path *field.Path, name string) *field.Error {
	return field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")
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
