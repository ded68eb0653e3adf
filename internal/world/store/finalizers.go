package store

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// checkFinalizers checks that finalizers without a domain are well known.
func (r *Resource) checkFinalizers(obj Object) field.ErrorList {
	if r.AnyFinalizer {
		return nil
	}
	var errs field.ErrorList
	for i, name := range obj.GetFinalizers() {
		if !isFinalizer(name) {
			errs = append(errs, CheckFinalizer(field.NewPath("metadata", "finalizers").Index(i), name)...)
		}
	}
	return errs
}

// CheckFinalizer rejects a finalizer without a domain that is not well known.
func CheckFinalizer(path *field.Path, name string) field.ErrorList {
	if isFinalizer(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

// isOdd reports whether a finalizer may not be a qualified name. Those that plainly are need
// no regular expression.
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

func isFinalizer(name string) bool {
	return strings.Contains(name, "/") ||
		name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents || name == "kubernetes"
}
