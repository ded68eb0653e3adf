package kind

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func checkQuota(spec *corev1.ResourceQuotaSpec) field.ErrorList {
	at := field.NewPath("spec")
	errs := quotaAmounts(at.Child("hard"), spec.Hard)
	errs = append(errs, quotaScopes(spec, at.Child("scopes"))...)
	if spec.ScopeSelector != nil {
		errs = append(errs, quotaSelector(spec, at.Child("scopeSelector", "matchExpressions"))...)
	}
	return errs
}

func checkQuotaStatus(status *corev1.ResourceQuotaStatus) field.ErrorList {
	at := field.NewPath("status")
	return append(quotaAmounts(at.Child("hard"), status.Hard), quotaAmounts(at.Child("used"), status.Used)...)
}

// quotaAmounts checks the limits, in sorted order; the real server uses the order of a map.
func quotaAmounts(at *field.Path, list corev1.ResourceList) (errs field.ErrorList) {
	for _, name := range sortedKeys(list) {
		at := at.Key(string(name))
		errs = append(errs, resourceName(at, name)...)
		if !strings.Contains(string(name), "/") && !isQuotaResource(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
		}
		errs = append(errs, resourceQuantity(at, name, list[name])...)
	}
	return errs
}

// isQuotaResource reports whether quotas can limit a name without a domain.
func isQuotaResource(name corev1.ResourceName) bool {
	return name != corev1.ResourceStorage && isStandard(name)
}

var (
	podScopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity}
	podResources = []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory}
	claimResources = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}
)

func isQuotaScope(scope corev1.ResourceQuotaScope) bool {
	return slices.Contains(podScopes, scope) || scope == corev1.ResourceQuotaScopeBestEffort || scope == corev1.ResourceQuotaScopeVolumeAttributesClass
}

// mayLimit reports whether a quota with a scope can limit a resource.
func mayLimit(scope corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	switch {
	case slices.Contains(podScopes, scope):
		return slices.Contains(podResources, name)
	case scope == corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	case scope == corev1.ResourceQuotaScopeVolumeAttributesClass:
		return slices.Contains(claimResources, name)
	}
	return true
}

// unlimitable returns a field error for each resource that a quota with a scope cannot limit.
func unlimitable(scope corev1.ResourceQuotaScope, hard corev1.ResourceList, err *field.Error) (errs field.ErrorList) {
	for name := range hard { // any order: the errors are equal
		if isQuotaResource(name) && !mayLimit(scope, name) {
			errs = append(errs, err)
		}
	}
	return errs
}

// scopesConflict counts the pairs of scopes that no pod can be in at once.
func scopesConflict(scopes sets.Set[corev1.ResourceQuotaScope]) (pairs int) {
	if scopes.HasAll(corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort) {
		pairs++
	}
	if scopes.HasAll(corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating) {
		pairs++
	}
	return pairs
}

func quotaScopes(spec *corev1.ResourceQuotaSpec, at *field.Path) (errs field.ErrorList) {
	for _, scope := range spec.Scopes {
		if !isQuotaScope(scope) {
			errs = append(errs, field.Invalid(at, spec.Scopes, "unsupported scope"))
		}
		errs = append(errs, unlimitable(scope, spec.Hard, field.Invalid(at, spec.Scopes, "unsupported scope applied to resource"))...)
	}
	for range scopesConflict(sets.New(spec.Scopes...)) {
		errs = append(errs, field.Invalid(at, spec.Scopes, "conflicting scopes"))
	}
	return errs
}

func quotaSelector(spec *corev1.ResourceQuotaSpec, at *field.Path) (errs field.ErrorList) {
	seen := sets.Set[corev1.ResourceQuotaScope]{}
	for _, r := range spec.ScopeSelector.MatchExpressions {
		if !isQuotaScope(r.ScopeName) {
			errs = append(errs, field.Invalid(at.Child("scopeName"), r.ScopeName, "unsupported scope"))
		}
		errs = append(errs, unlimitable(r.ScopeName, spec.Hard, field.Invalid(at, goNames{spec.ScopeSelector}, "unsupported scope applied to resource"))...)
		errs = append(errs, quotaRequirement(r, at)...)
		seen.Insert(r.ScopeName)
	}
	for range scopesConflict(seen) {
		errs = append(errs, field.Invalid(at, spec.Scopes, "conflicting scopes"))
	}
	return errs
}

func quotaRequirement(r corev1.ScopedResourceSelectorRequirement, at *field.Path) (errs field.ErrorList) {
	yesOrNo := r.ScopeName == corev1.ResourceQuotaScopeBestEffort || slices.Contains(podScopes, r.ScopeName) && r.ScopeName != corev1.ResourceQuotaScopePriorityClass
	if yesOrNo && r.Operator != corev1.ScopeSelectorOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "+
			"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Invalid(at.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return errs
}

// quotaWarnings are about requests with a higher quota than limits.
func quotaWarnings(hard corev1.ResourceList) (texts []string) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		of := corev1.DefaultResourceRequestsPrefix + name
		request, limited := hard[of]
		if !limited && name != corev1.ResourceEphemeralStorage {
			of = name
			request, limited = hard[of]
		}
		limit, ok := hard["limits."+name]
		if limited && ok && request.Cmp(limit) > 0 {
			texts = append(texts, fmt.Sprintf("ResourceQuota %s (%s) should be less than limits.%s (%s)", of, request.String(), name, limit.String()))
		}
	}
	return texts
}
