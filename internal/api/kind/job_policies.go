package kind

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of a job's failure and success policies.
const (
	maxPolicyRules      = 20
	maxExitCodes        = 255
	maxPolicyConditions = 20
	maxSucceededIndexes = 64 * 1024
)

func podFailurePolicy(spec *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	policy := spec.PodFailurePolicy
	if policy == nil {
		return nil
	}
	if len(policy.Rules) > maxPolicyRules {
		errs = append(errs, field.TooMany(at.Child("rules"), len(policy.Rules), maxPolicyRules))
	}
	for i := range policy.Rules {
		errs = append(errs, podFailureRule(spec, &policy.Rules[i], at.Child("rules").Index(i))...)
	}
	return errs
}

func podFailureRule(spec *batchv1.JobSpec, rule *batchv1.PodFailurePolicyRule, at *field.Path) (errs field.ErrorList) {
	if rule.Action == batchv1.PodFailurePolicyActionFailIndex {
		if spec.BackoffLimitPerIndex == nil {
			errs = append(errs, field.Invalid(at.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set"))
		}
	} else {
		errs = append(errs, mandatoryOneOf(at.Child("action"), rule.Action, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
			batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore)...)
	}
	if rule.OnExitCodes != nil {
		errs = append(errs, onExitCodes(&spec.Template.Spec, rule.OnExitCodes, at.Child("onExitCodes"))...)
	}
	errs = append(errs, onPodConditions(rule.OnPodConditions, at.Child("onPodConditions"))...)
	switch codes, conditions := rule.OnExitCodes != nil, len(rule.OnPodConditions) > 0; {
	case codes && conditions:
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case !codes && !conditions:
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

// mandatoryOneOf is oneOf for a required field. The error for a missing value lists the supported
// values.
func mandatoryOneOf[T ~string](at *field.Path, value T, supported ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, fmt.Sprintf("valid values: %q", supported))}
	}
	return oneOf(at, value, supported...)
}

func onPodConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, at *field.Path) (errs field.ErrorList) {
	if len(patterns) > maxPolicyConditions {
		errs = append(errs, field.TooMany(at, len(patterns), maxPolicyConditions))
	}
	for i, pattern := range patterns {
		errs = append(errs, qualifiedName(at.Index(i).Child("type"), string(pattern.Type))...)
		errs = append(errs, mandatoryOneOf(at.Index(i).Child("status"), pattern.Status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)...)
	}
	return errs
}

func onExitCodes(pod *corev1.PodSpec, codes *batchv1.PodFailurePolicyOnExitCodesRequirement, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, mandatoryOneOf(at.Child("operator"), codes.Operator,
		batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn)...)
	if name := codes.ContainerName; name != nil {
		called := func(c corev1.Container) bool { return c.Name == *name }
		if !slices.ContainsFunc(pod.Containers, called) && !slices.ContainsFunc(pod.InitContainers, called) {
			errs = append(errs, field.Invalid(at.Child("containerName"), *name, "must be one of the container or initContainer names in the pod template"))
		}
	}
	values := at.Child("values")
	if len(codes.Values) == 0 {
		errs = append(errs, field.Invalid(values, codes.Values, "at least one value is required"))
	} else if len(codes.Values) > maxExitCodes {
		errs = append(errs, field.TooMany(values, len(codes.Values), maxExitCodes))
	}
	seen := sets.Set[int32]{}
	for i, code := range codes.Values {
		if code == 0 && codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			errs = append(errs, field.Invalid(values.Index(i), code, "must not be 0 for the In operator"))
		}
		if seen.Has(code) {
			errs = append(errs, field.Duplicate(values.Index(i), code))
		}
		seen.Insert(code)
	}
	if !slices.IsSorted(codes.Values) {
		errs = append(errs, field.Invalid(values, codes.Values, "must be ordered"))
	}
	return errs
}

func successPolicy(spec *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	policy := spec.SuccessPolicy
	switch {
	case policy == nil:
		return nil
	case !isIndexed(spec):
		return field.ErrorList{field.Invalid(at, goNames{*policy}, "requires indexed completion mode")}
	case len(policy.Rules) == 0:
		return field.ErrorList{field.Required(at.Child("rules"), "at least one rules must be specified when the successPolicy is specified")}
	case len(policy.Rules) > maxPolicyRules:
		errs = append(errs, field.TooMany(at.Child("rules"), len(policy.Rules), maxPolicyRules))
	}
	for i := range policy.Rules {
		errs = append(errs, successRule(spec, &policy.Rules[i], at.Child("rules").Index(i))...)
	}
	return errs
}

// successRule checks a rule of a job with completions; the real server panics for one without.
func successRule(spec *batchv1.JobSpec, rule *batchv1.SuccessPolicyRule, at *field.Path) (errs field.ErrorList) {
	indexes, count, completions := rule.SucceededIndexes, rule.SucceededCount, wanted(spec.Completions)
	if count == nil && indexes == nil {
		errs = append(errs, field.Required(at, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	var total int32
	if indexes != nil {
		if len(*indexes) > maxSucceededIndexes {
			errs = append(errs, field.TooLong(at.Child("succeededIndexes"), "", maxSucceededIndexes))
		}
		var err error
		if total, err = parseIndexes(*indexes, completions); err != nil {
			errs = append(errs, field.Invalid(at.Child("succeededIndexes"), *indexes, "error parsing succeededIndexes: "+err.Error()))
		}
	}
	if count == nil {
		return errs
	}
	at = at.Child("succeededCount")
	errs = append(errs, natural(at, int64(*count))...)
	if *count > completions {
		errs = append(errs, field.Invalid(at, *count, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
	}
	if indexes != nil && *count > total {
		errs = append(errs, field.Invalid(at, *count, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
	}
	return errs
}
