package kind

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func conditionTypes(at *field.Path, gates []corev1.PodReadinessGate) (errs field.ErrorList) {
	for i, gate := range gates {
		errs = append(errs, qualifiedName(at.Index(i).Child("conditionType"), string(gate.ConditionType))...)
	}
	return errs
}

func schedulingGates(at *field.Path, gates []corev1.PodSchedulingGate) (errs field.ErrorList) {
	var seen []string
	for i, gate := range gates {
		errs = append(errs, qualifiedName(at.Index(i), gate.Name)...)
		if slices.Contains(seen, gate.Name) {
			errs = append(errs, field.Duplicate(at.Index(i), gate.Name))
		}
		seen = append(seen, gate.Name)
	}
	return errs
}

func topologySpread(at *field.Path, all []corev1.TopologySpreadConstraint) (errs field.ErrorList) {
	for i := range all {
		errs = append(errs, spreadConstraint(at.Index(i), &all[i], all[i+1:])...)
	}
	return errs
}

func spreadConstraint(at *field.Path, c *corev1.TopologySpreadConstraint, others []corev1.TopologySpreadConstraint) field.ErrorList {
	errs := positiveNumber(at.Child("maxSkew"), int64(c.MaxSkew))
	if c.TopologyKey == "" {
		errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
	}
	errs = append(errs, oneOf(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
	if slices.ContainsFunc(others, func(o corev1.TopologySpreadConstraint) bool {
		return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
	}) {
		errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
	}
	if n := c.MinDomains; n != nil {
		errs = append(errs, positiveNumber(at.Child("minDomains"), int64(*n))...)
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			errs = append(errs, field.Invalid(at.Child("minDomains"), n, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
		}
	}
	for _, policy := range []struct {
		name  string
		given *corev1.NodeInclusionPolicy
	}{{"nodeAffinityPolicy", c.NodeAffinityPolicy}, {"nodeTaintsPolicy", c.NodeTaintsPolicy}} {
		if policy.given != nil {
			errs = append(errs, oneOf(at.Child(policy.name), *policy.given, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
		}
	}
	errs = append(errs, labelKeys(at, c.MatchLabelKeys, nil, c.LabelSelector)...)
	return append(errs, checkSelector(c.LabelSelector, at.Child("labelSelector"))...)
}

func positiveNumber(at *field.Path, n int64) field.ErrorList {
	if n > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, "must be greater than zero")}
}

func tolerations(at *field.Path, all []corev1.Toleration) (errs field.ErrorList) {
	for i := range all {
		errs = append(errs, toleration(at.Index(i), &all[i])...)
	}
	return errs
}

func toleration(at *field.Path, t *corev1.Toleration) (errs field.ErrorList) {
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
	}
	if t.Key == "" && t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, `operator must be Exists when `+"`key`"+` is empty, which means "match all values and all keys"`))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
	}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if messages := utilvalidation.IsValidLabelValue(t.Value); len(messages) > 0 {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Value, strings.Join(messages, ";")))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt: // their gate is off
		errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt}))
	default:
		errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
	}
	if t.Effect != "" {
		errs = append(errs, oneOf(at.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
	}
	return errs
}
