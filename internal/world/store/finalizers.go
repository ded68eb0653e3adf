package store

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// checkFinalizers checks the finalizers of an object, unless its kind permits any finalizer.
func (r *Resource) checkFinalizers(obj Object) field.ErrorList {
	if r.AnyFinalizer {
		return nil
	}
	return CheckFinalizers(obj.GetFinalizers())
}

// CheckFinalizers rejects finalizers in the metadata without a domain that are not well known.
func CheckFinalizers(names []string) (errs field.ErrorList) {
	for i, name := range names {
		if !isFinalizer(name) {
			errs = append(errs, wrongFinalizer(field.NewPath("metadata", "finalizers").Index(i), name))
		}
	}
	return errs
}

// CheckFinalizer rejects a finalizer without a domain, unless it is well known.
func CheckFinalizer(path *field.Path, name string) field.ErrorList {
	if isFinalizer(name) {
		return nil
	}
	return field.ErrorList{wrongFinalizer(path, name)}
}

// isOdd returns false for a finalizer that is plainly a qualified name. Only other finalizers need
// a check with a regular expression.
func isOdd(name string) bool {
	prefix, rest, qualified := strings.Cut(name, "/")
	if qualified && len(objectname.Subdomain(prefix, false)) > 0 {
		return true
	}
	if !qualified {
		rest = prefix
	}
	return len(objectname.Label(rest)) > 0
}

func wrongFinalizer(path *field.Path, name string) *field.Error {
	return field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")
}

func isFinalizer(name string) bool {
	return strings.Contains(name, "/") ||
		name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents || name == "kubernetes"
}
