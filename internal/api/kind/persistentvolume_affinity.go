package kind

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// volumeAffinity checks from which nodes a volume can be reached: what a driver calls
// its topology becomes labels here.
func volumeAffinity(path *field.Path, affinity *corev1.VolumeNodeAffinity) field.ErrorList {
	switch {
	case affinity == nil:
		return nil
	case affinity.Required == nil:
		return field.ErrorList{field.Required(path.Child("required"), "must specify required node constraints")}
	}
	terms := path.Child("required", "nodeSelectorTerms")
	if len(affinity.Required.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(terms, "must have at least one node selector term")}
	}
	var errs field.ErrorList
	for i, term := range affinity.Required.NodeSelectorTerms {
		for j := range term.MatchExpressions {
			errs = append(errs, labelRequirement(terms.Index(i).Child("matchExpressions").Index(j), &term.MatchExpressions[j])...)
		}
		for j := range term.MatchFields {
			errs = append(errs, fieldRequirement(terms.Index(i).Child("matchFields").Index(j), &term.MatchFields[j])...)
		}
	}
	return errs
}

func labelRequirement(path *field.Path, r *corev1.NodeSelectorRequirement) field.ErrorList {
	var errs field.ErrorList
	values := path.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	errs = append(errs, metav1validation.ValidateLabelName(r.Key, path.Child("key"))...)
	for i, value := range r.Values {
		errs = append(errs, invalid(values.Index(i), value, utilvalidation.IsValidLabelValue(value))...)
	}
	return errs
}

func fieldRequirement(path *field.Path, r *corev1.NodeSelectorRequirement) field.ErrorList {
	var errs field.ErrorList
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(path.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(path.Child("key"), r.Key, "not a valid field selector key"))
	}
	for i, value := range r.Values {
		errs = append(errs, invalid(path.Child("values").Index(i), value, objectname.Subdomain(value, false))...)
	}
	return errs
}
