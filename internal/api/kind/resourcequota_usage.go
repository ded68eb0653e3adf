package store

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

type quantity = resource.Quantity

// countPrefix begins what a quota calls the number of objects of a kind:
// count/volumesnapshots.snapshot.storage.k8s.io.
const countPrefix = "count/"

// Counted are the kinds that a quota limits: claims, pods and services by more than their
// number, and the number of objects of any kind.
func Counted(hard corev1.ResourceList) []*Resource {
	var found []*Resource
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if res := countedAs(name); res != nil && !slices.Contains(found, res) {
			found = append(found, res)
		}
	}
	return found
}

// countedAs is the kind whose objects count for what a quota calls name, nil if there is
// none.
func countedAs(name corev1.ResourceName) *Resource {
	if counted, isCount := strings.CutPrefix(string(name), countPrefix); isCount {
		if res := byName[counted]; res != nil && res.Namespaced && res.limits(name) {
			return res
		}
		return nil
	}
	for _, res := range []*Resource{claims, pods, services} {
		if res.limits(name) {
			return res
		}
	}
	return nil
}

// Usage is what the objects of a quota's namespace use of what it limits at that time.
// What is not counted is left out: devices, and what is no resource of Kubernetes' own.
// (k8s.io/apiserver v0.36.3, quota/v1/resources.go: CalculateUsage)
func Usage(cluster Reader, now time.Time, quota *corev1.ResourceQuota) corev1.ResourceList {
	used := corev1.ResourceList{}
	for _, res := range Counted(quota.Spec.Hard) {
		limited := res.limitedBy(quota.Spec.Hard)
		for _, name := range limited {
			used[name] = quantity{Format: resource.DecimalSI}
		}
		for obj := range cluster.ListObjects(res, quota.Namespace) {
			if !res.isInScopeOf(quota, obj) {
				continue
			}
			usage := res.usage(now, obj)
			for _, name := range limited {
				total := used[name]
				total.Add(usage[name])
				used[name] = total
			}
		}
	}
	return used
}

// limitedBy are the limits, sorted, that objects of the kind count for.
func (r *Resource) limitedBy(hard corev1.ResourceList) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name := range hard { // any order: they are sorted
		if r.limits(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// limits reports whether objects of the kind count for what a quota calls name.
func (r *Resource) limits(name corev1.ResourceName) bool {
	return name == r.countName() || r.quota != nil && r.quota.limits(name)
}

func (r *Resource) countName() corev1.ResourceName {
	return corev1.ResourceName(countPrefix + r.String())
}

// usage is what an object counts for.
func (r *Resource) usage(now time.Time, obj Object) corev1.ResourceList {
	list := corev1.ResourceList{}
	if r.quota != nil {
		list = r.quota.usage(now, obj)
	}
	list[r.countName()] = one()
	return list
}

func one() quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

// isInScopeOf reports whether all scopes of a quota are about the object. None is about
// kinds that are counted by their number only.
func (r *Resource) isInScopeOf(quota *corev1.ResourceQuota, obj Object) bool {
	for _, scope := range quota.Spec.Scopes {
		if !r.inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, obj) {
			return false
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true
	}
	for _, scope := range quota.Spec.ScopeSelector.MatchExpressions {
		if !r.inScope(scope, obj) {
			return false
		}
	}
	return true
}

func (r *Resource) inScope(scope corev1.ScopedResourceSelectorRequirement, obj Object) bool {
	return r.quota != nil && r.quota.inScope != nil && r.quota.inScope(scope, obj)
}

var scopeOperators = map[corev1.ScopeSelectorOperator]selection.Operator{
	corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
	corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
}

// matchesScope reports whether one of the values that an object has of a scope is wanted,
// or none if it has none.
func matchesScope(scope corev1.ScopedResourceSelectorRequirement, has []string) bool {
	wanted, err := labels.NewRequirement(string(scope.ScopeName), scopeOperators[scope.Operator], scope.Values)
	if err != nil {
		return false
	}
	if len(has) == 0 {
		return wanted.Matches(labels.Set{})
	}
	return slices.ContainsFunc(has, func(value string) bool {
		return wanted.Matches(labels.Set{string(scope.ScopeName): value})
	})
}
