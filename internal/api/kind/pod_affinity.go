package kind

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func affinity(at *field.Path, a *corev1.Affinity) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		errs = append(errs, nodeAffinity(at.Child("nodeAffinity"), n)...)
	}
	if p := a.PodAffinity; p != nil {
		errs = append(errs, podAffinity(at.Child("podAffinity"), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	if p := a.PodAntiAffinity; p != nil {
		errs = append(errs, podAffinity(at.Child("podAntiAffinity"), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	return errs
}

func nodeAffinity(at *field.Path, n *corev1.NodeAffinity) field.ErrorList {
	var errs field.ErrorList
	if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		errs = append(errs, nodeSelector(at.Child(required), r)...)
	}
	for i, term := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		at := at.Child(preferred).Index(i)
		errs = append(errs, weight(at, term.Weight)...)
		errs = append(errs, nodeSelectorTerm(at.Child("preference"), &term.Preference, true)...)
	}
	return errs
}

func weight(at *field.Path, n int32) field.ErrorList {
	if n > 0 && n <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("weight"), n, "must be in the range 1-100")}
}

func nodeSelector(at *field.Path, s *corev1.NodeSelector) field.ErrorList {
	terms := at.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(terms, "must have at least one node selector term")}
	}
	var errs field.ErrorList
	for i := range s.NodeSelectorTerms {
		errs = append(errs, nodeSelectorTerm(terms.Index(i), &s.NodeSelectorTerms[i], false)...)
	}
	return errs
}

// nodeSelectorTerm checks a term. A preferred term may have values that no node can have.
func nodeSelectorTerm(at *field.Path, term *corev1.NodeSelectorTerm, anyValue bool) field.ErrorList {
	var errs field.ErrorList
	for i := range term.MatchExpressions {
		at, r := at.Child("matchExpressions").Index(i), &term.MatchExpressions[i]
		errs = append(errs, labelRequirement(at, r)...)
		if !anyValue {
			errs = append(errs, labelValues(at.Child("values"), r.Values)...)
		}
	}
	for i := range term.MatchFields {
		errs = append(errs, fieldRequirement(at.Child("matchFields").Index(i), &term.MatchFields[i])...)
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
	return append(errs, metav1validation.ValidateLabelName(r.Key, path.Child("key"))...)
}

func labelValues(at *field.Path, values []string) (errs field.ErrorList) {
	for i, value := range values {
		errs = append(errs, invalid(at.Index(i), value, utilvalidation.IsValidLabelValue(value))...)
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

func podAffinity(at *field.Path, must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm) field.ErrorList {
	var errs field.ErrorList
	for i := range must {
		errs = append(errs, podAffinityTerm(at.Child(required).Index(i), &must[i])...)
	}
	for i := range may {
		at := at.Child(preferred).Index(i)
		errs = append(errs, weight(at, may[i].Weight)...)
		errs = append(errs, podAffinityTerm(at.Child("podAffinityTerm"), &may[i].PodAffinityTerm)...)
	}
	return errs
}

func podAffinityTerm(at *field.Path, term *corev1.PodAffinityTerm) field.ErrorList {
	errs := checkSelector(term.LabelSelector, at.Child("labelSelector"))
	errs = append(errs, checkSelector(term.NamespaceSelector, at.Child("namespaceSelector"))...)
	for _, name := range term.Namespaces {
		errs = append(errs, invalid(at.Child("namespace"), name, objectname.Label(name))...)
	}
	errs = append(errs, labelKeys(at, term.MatchLabelKeys, term.MismatchLabelKeys, term.LabelSelector)...)
	if term.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, metav1validation.ValidateLabelName(term.TopologyKey, at.Child("topologyKey"))...)
}

// labelKeys checks keys of the pod's own labels that are merged into a selector.
func labelKeys(at *field.Path, match, mismatch []string, selector *metav1.LabelSelector) field.ErrorList {
	errs := labelKeyNames(at.Child("matchLabelKeys"), match, selector)
	errs = append(errs, labelKeyNames(at.Child("mismatchLabelKeys"), mismatch, selector)...)
	if selector != nil {
		seen := map[string]bool{}
		for key := range selector.MatchLabels {
			seen[key] = true
		}
		for _, e := range selector.MatchExpressions {
			if i := lastIndex(match, e.Key); i >= 0 && seen[e.Key] {
				errs = append(errs, field.Invalid(at.Index(i), e.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen[e.Key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			errs = append(errs, field.Invalid(at.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func lastIndex(all []string, one string) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] == one {
			return i
		}
	}
	return -1
}

func labelKeyNames(at *field.Path, keys []string, selector *metav1.LabelSelector) (errs field.ErrorList) {
	if len(keys) > 0 && selector == nil {
		return field.ErrorList{field.Forbidden(at, "must not be specified when labelSelector is not set")}
	}
	for i, key := range keys {
		errs = append(errs, metav1validation.ValidateLabelName(key, at.Index(i))...)
	}
	return errs
}
