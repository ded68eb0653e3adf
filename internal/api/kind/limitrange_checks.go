package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// fillLimit derives, for containers, limits from maxima, and requests from limits and minima.
func fillLimit(limit *corev1.LimitRangeItem) {
	if limit.Type != corev1.LimitTypeContainer {
		return
	}
	derive := func(to *corev1.ResourceList, from corev1.ResourceList) {
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		for name, amount := range from { // any order: resources are independent
			if _, given := (*to)[name]; !given {
				(*to)[name] = amount.DeepCopy()
			}
		}
	}
	derive(&limit.Default, limit.Max)
	derive(&limit.DefaultRequest, limit.Default)
	derive(&limit.DefaultRequest, limit.Min)
}

func checkLimitRange(limits []corev1.LimitRangeItem) (errs field.ErrorList) {
	seen := sets.Set[corev1.LimitType]{}
	for i := range limits {
		limit, at := &limits[i], field.NewPath("spec", "limits").Index(i)
		errs = append(errs, limitType(limit.Type, at.Child("type"))...)
		if seen.Has(limit.Type) {
			errs = append(errs, field.Duplicate(at.Child("type"), limit.Type))
		}
		seen.Insert(limit.Type)
		errs = append(errs, limitNames(limit, at)...)
		errs = append(errs, limitAmounts(limit, at)...)
	}
	return errs
}

func limitType(of corev1.LimitType, at *field.Path) field.ErrorList {
	if errs := invalid(at, of, utilvalidation.IsQualifiedName(string(of))); len(errs) > 0 {
		return errs
	}
	if strings.Contains(string(of), "/") || of == corev1.LimitTypePod || of == corev1.LimitTypeContainer || of == corev1.LimitTypePersistentVolumeClaim {
		return nil
	}
	return field.ErrorList{field.Invalid(at, of, "must be a standard limit type or fully qualified")}
}

// limitNames checks the names of the limited resources, and that required resources are present.
func limitNames(limit *corev1.LimitRangeItem, at *field.Path) (errs field.ErrorList) {
	check := resourceName
	if limit.Type == corev1.LimitTypePod || limit.Type == corev1.LimitTypeContainer {
		check = containerResourceName
	}
	names := func(where string, list corev1.ResourceList) {
		for _, name := range sortedKeys(list) {
			errs = append(errs, check(at.Child(where).Key(string(name)), name)...)
		}
	}
	names("max", limit.Max)
	names("min", limit.Min)
	if limit.Type == corev1.LimitTypePod {
		const rule = "may not be specified when `type` is 'Pod'"
		if len(limit.Default) > 0 {
			errs = append(errs, field.Forbidden(at.Child("default"), rule))
		}
		if len(limit.DefaultRequest) > 0 {
			errs = append(errs, field.Forbidden(at.Child("defaultRequest"), rule))
		}
	} else {
		names("default", limit.Default)
		names("defaultRequest", limit.DefaultRequest)
	}
	if limit.Type == corev1.LimitTypePersistentVolumeClaim {
		_, least := limit.Min[corev1.ResourceStorage]
		_, most := limit.Max[corev1.ResourceStorage]
		if !least && !most {
			errs = append(errs, field.Required(at.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	names("maxLimitRequestRatio", limit.MaxLimitRequestRatio)
	return errs
}

// limitAmounts compares the amounts of each resource with each other.
func limitAmounts(limit *corev1.LimitRangeItem, at *field.Path) (errs field.ErrorList) {
	defaults, requests := limit.Default, limit.DefaultRequest
	if limit.Type == corev1.LimitTypePod {
		defaults, requests = nil, nil
	}
	keys := sets.KeySet(limit.Max).Union(sets.KeySet(limit.Min)).Union(sets.KeySet(defaults)).Union(sets.KeySet(requests)).Union(sets.KeySet(limit.MaxLimitRequestRatio))
	for _, name := range sets.List(keys) {
		least, hasLeast := limit.Min[name]
		most, hasMost := limit.Max[name]
		standard, hasStandard := defaults[name]
		request, hasRequest := requests[name]
		refuse := func(is bool, where string, value resource.Quantity, text string, args ...any) {
			if is {
				errs = append(errs, field.Invalid(at.Child(where).Key(string(name)), value, fmt.Sprintf(text, args...)))
			}
		}
		refuse(hasLeast && hasMost && least.Cmp(most) > 0, "min", least, "min value %s is greater than max value %s", least.String(), most.String())
		refuse(hasRequest && hasLeast && least.Cmp(request) > 0, "defaultRequest", request, "min value %s is greater than default request value %s", least.String(), request.String())
		refuse(hasRequest && hasMost && request.Cmp(most) > 0, "defaultRequest", request, "default request value %s is greater than max value %s", request.String(), most.String())
		refuse(hasRequest && hasStandard && request.Cmp(standard) > 0, "defaultRequest", request, "default request value %s is greater than default limit value %s", request.String(), standard.String())
		refuse(hasStandard && hasLeast && least.Cmp(standard) > 0, "default", least, "min value %s is greater than default value %s", least.String(), standard.String())
		refuse(hasStandard && hasMost && standard.Cmp(most) > 0, "default", most, "default value %s is greater than max value %s", standard.String(), most.String())
		if ratio, ok := limit.MaxLimitRequestRatio[name]; ok {
			refuse(ratio.Cmp(resource.MustParse("1")) < 0, "maxLimitRequestRatio", ratio, "ratio %s is less than 1", ratio.String())
			if possible, asked := ratioOf(ratio, most, least); hasLeast && hasMost && asked > possible {
				refuse(true, "maxLimitRequestRatio", ratio, "ratio %s is greater than max/min = %f", ratio.String(), possible)
			}
		}
		refuse(!isOvercommitted(name) && hasStandard && hasRequest && standard.Cmp(request) != 0, "defaultRequest", request,
			"default value %s must equal to defaultRequest value %s in %s", standard.String(), request.String(), name)
	}
	return errs
}

// ratioOf returns the ratio of the maximum to the minimum, and the requested ratio. It computes
// both from thousandths unless they overflow.
func ratioOf(ratio, most, least resource.Quantity) (possible, asked float64) {
	if ratio.Value() < resource.MaxMilliValue && least.Value() < resource.MaxMilliValue && most.Value() < resource.MaxMilliValue {
		return float64(most.MilliValue()) / float64(least.MilliValue()), float64(ratio.MilliValue()) / 1000
	}
	return float64(most.Value()) / float64(least.Value()), float64(ratio.Value())
}
