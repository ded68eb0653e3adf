package apiserver

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalidReview returns the error of a review of access with these mistakes; nil without mistakes.
func invalidReview(kind string, mistakes ...field.ErrorList) error {
	var all field.ErrorList
	for _, some := range mistakes {
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil
	}
	return apierrors.NewInvalid(authorizationv1.SchemeGroupVersion.WithKind(kind).GroupKind(), "", all)
}

// validateAsked requires exactly one kind of permission.
// [pkg/apis/authorization/validation]
func validateAsked(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) field.ErrorList {
	spec := field.NewPath("spec")
	switch {
	case r != nil && n != nil:
		return field.ErrorList{field.Invalid(spec.Child("nonResourceAttributes"), untagged(*n), "cannot be specified in combination with resourceAttributes")}
	case r == nil && n == nil:
		return field.ErrorList{field.Invalid(spec.Child("resourceAttributes"), n, "exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

// untagged has the fields of the server's internal type, which errors show.
type untagged struct{ Path, Verb string }

func validateSubject(spec authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	if spec.User != "" || len(spec.Groups) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "user"), spec.User, "at least one of user or group must be specified")}
}

func validateNoMeta(meta metav1.ObjectMeta, must string) field.ErrorList {
	meta.ManagedFields = nil
	if apiequality.Semantic.DeepEqual(metav1.ObjectMeta{}, meta) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), meta, must)}
}

// validateLocal requires that a review in a namespace asks for a resource of this namespace.
func validateLocal(asked authorizationv1.LocalSubjectAccessReview) (all field.ErrorList) {
	meta := asked.ObjectMeta
	meta.Namespace = ""
	all = validateNoMeta(meta, "must be empty except for namespace")
	if r := asked.Spec.ResourceAttributes; r != nil && r.Namespace != asked.Namespace {
		all = append(all, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"), r.Namespace, "must match metadata.namespace"))
	}
	if n := asked.Spec.NonResourceAttributes; n != nil {
		all = append(all, field.Invalid(field.NewPath("spec.nonResourceAttributes"), untagged(*n), "disallowed on this kind of request"))
	}
	return all
}
