package store

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NotFound is the error with which the API server says that there is no such object.
func (r *Resource) NotFound(key Key) error {
	return apierrors.NewNotFound(r.GVR.GroupResource(), key.Name)
}

func (r *Resource) invalid(obj Object, errs field.ErrorList) error {
	sortMaps(errs)
	return apierrors.NewInvalid(r.GVK.GroupKind(), obj.GetName(), errs)
}

// unconditional is the refusal of an update that names no version. The real server
// names the resource here, not the kind.
func (r *Resource) unconditional(obj Object) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: r.GVR.Group, Kind: r.GVR.Resource}, obj.GetName(), field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}

// sortMaps orders the field errors in labels and annotations, which are found in the
// random order of a map.
func sortMaps(errs field.ErrorList) {
	for len(errs) > 0 {
		end := slices.IndexFunc(errs, func(e *field.Error) bool { return e.Field != errs[0].Field })
		if end < 0 {
			end = len(errs)
		}
		if f := errs[0].Field; f == "metadata.labels" || f == "metadata.annotations" {
			slices.SortFunc(errs[:end], func(a, b *field.Error) int { return strings.Compare(a.ErrorBody(), b.ErrorBody()) })
		}
		errs = errs[end:]
	}
}

func (r *Resource) conflict(key Key, why error) error {
	return apierrors.NewConflict(r.GVR.GroupResource(), key.Name, why)
}

// errVersionAtCreate has no reason: the real server did not expect it, either.
var errVersionAtCreate = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status:  metav1.StatusFailure,
	Code:    http.StatusInternalServerError,
	Message: "resourceVersion should not be set on objects to be created",
}}

// errModified is why a write of an old resource version conflicts.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// alreadyExists rejects a taken name. A generated one can be tried again; one of an
// object that is being deleted will be free once it is gone.
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
