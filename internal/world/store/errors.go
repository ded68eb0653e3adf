package store

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NotFound returns the API server's error for a missing object.
func (r *Resource) NotFound(key Key) error {
	return apierrors.NewNotFound(r.GVR.GroupResource(), key.Name)
}

func (r *Resource) invalid(obj Object, errs field.ErrorList) error {
	sortMaps(errs, obj)
	return apierrors.NewInvalid(r.GVK.GroupKind(), obj.GetName(), errs)
}

// unconditional returns the error for an update without a version. The real server names the
// resource here, not the kind.
func (r *Resource) unconditional(obj Object) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: r.GVR.Group, Kind: r.GVR.Resource}, obj.GetName(), field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}

// sortMaps sorts the field errors in labels and annotations by key, because they were found in the
// random order of a map.
func sortMaps(errs field.ErrorList, obj Object) {
	for len(errs) > 0 {
		end := slices.IndexFunc(errs, func(e *field.Error) bool { return e.Field != errs[0].Field })
		if end < 0 {
			end = len(errs)
		}
		switch errs[0].Field {
		case "metadata.labels":
			sortLike(errs[:end], errorsByKey(obj.GetLabels(), metavalidation.ValidateLabels))
		case "metadata.annotations":
			sortLike(errs[:end], errorsByKey(obj.GetAnnotations(), validation.ValidateAnnotations))
		}
		errs = errs[end:]
	}
}

// CheckByKey returns the errors of check for a map, in the order of the map's keys.
func CheckByKey(m map[string]string, at *field.Path, check func(map[string]string, *field.Path) field.ErrorList) field.ErrorList {
	errs := check(m, at)
	if len(errs) > 1 {
		sortLike(errs, errorsByKey(m, check))
	}
	return errs
}

// errorsByKey returns the texts of the field errors in a map, one key after the other.
func errorsByKey(m map[string]string, check func(map[string]string, *field.Path) field.ErrorList) (texts []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		for _, err := range check(map[string]string{key: m[key]}, metadataPath) {
			texts = append(texts, err.ErrorBody())
		}
	}
	return texts
}

// sortLike sorts field errors in the order of the texts, which may occur several times.
func sortLike(errs field.ErrorList, texts []string) {
	type placed struct {
		err *field.Error
		at  int
	}
	all, seen := make([]placed, len(errs)), map[string]int{}
	for i, err := range errs {
		text := err.ErrorBody()
		all[i] = placed{err, place(texts, text, seen[text])}
		seen[text]++
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for i := range all {
		errs[i] = all[i].err
	}
}

// place returns the position of the n-th occurrence of a text, if the texts are repeated endlessly.
func place(texts []string, text string, n int) int {
	var at []int
	for i, other := range texts {
		if other == text {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return (n + 1) * len(texts)
	}
	return n/len(at)*len(texts) + at[n%len(at)]
}

func (r *Resource) conflict(key Key, why error) error {
	return apierrors.NewConflict(r.GVR.GroupResource(), key.Name, why)
}

// errVersionAtCreate has no reason, as in the real server.
var errVersionAtCreate = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status:  metav1.StatusFailure,
	Code:    http.StatusInternalServerError,
	Message: "resourceVersion should not be set on objects to be created",
}}

// errModified is the cause of a conflict with an old resource version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// alreadyExists rejects a name in use. The error for a generated name permits a retry. If the
// object is being deleted, the error says so.
func (r *Resource) alreadyExists(named bool, there Object) error {
	err := apierrors.NewAlreadyExists(r.GVR.GroupResource(), there.GetName())
	if !named {
		err = apierrors.NewGenerateNameConflict(r.GVR.GroupResource(), there.GetName(), 1)
	}
	if there.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
