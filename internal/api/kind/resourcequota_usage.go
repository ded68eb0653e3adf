package kind

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/csisim/csisim/internal/world/store"
)

type quantity = resource.Quantity

// countPrefix is the prefix of a quota's resource name for the number of objects of a kind:
// count/volumesnapshots.snapshot.storage.k8s.io.
const countPrefix = "count/"

// Counted returns the kinds that a quota limits. Claims, pods and services can be limited by more
// than their number, and any kind by its number.
func Counted(hard corev1.ResourceList) []*store.Resource {
	var found []*store.Resource
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if res := countedAs(name); res != nil && !slices.Contains(found, res) {
			found = append(found, res)
		}
	}
	return found
}

// countedAs returns the kind that a quota counts under a resource name; nil if there is none.
func countedAs(name corev1.ResourceName) *store.Resource {
	if counted, isCount := strings.CutPrefix(string(name), countPrefix); isCount {
		if res, _ := store.ResourceNamed(counted); res != nil && res.Namespaced && limits(res, name) {
			return res
		}
		return nil
	}
	for _, res := range store.Resources() {
		if limits(res, name) {
			return res
		}
	}
	return nil
}

// Usage returns the usage of a quota's limits by the objects of its namespace at that time. It
// omits resources that are not counted: devices, and resources that are not Kubernetes' own.
// (k8s.io/apiserver v0.36.3, quota/v1/resources.go: CalculateUsage)
func Usage(cluster store.Reader, now time.Time, quota *corev1.ResourceQuota) corev1.ResourceList {
	used := corev1.ResourceList{}
	for _, res := range Counted(quota.Spec.Hard) {
		limited := limitedBy(res, quota.Spec.Hard)
		for _, name := range limited {
			used[name] = quantity{Format: resource.DecimalSI}
		}
		for obj := range cluster.ListObjects(res, quota.Namespace) {
			if !isInScopeOf(res, quota, obj) {
				continue
			}
			usage := usageOf(res, now, obj)
			for _, name := range limited {
				total := used[name]
				total.Add(usage[name])
				used[name] = total
			}
		}
	}
	return used
}

// limitedBy returns the limits, sorted, that apply to objects of the kind.
func limitedBy(res *store.Resource, hard corev1.ResourceList) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name := range hard { // any order: they are sorted
		if limits(res, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// limits reports whether objects of the kind count for a quota's resource name.
func limits(res *store.Resource, name corev1.ResourceName) bool {
	quota := counterOf(res)
	return name == countName(res) || quota != nil && quota.limits(name)
}

func countName(res *store.Resource) corev1.ResourceName {
	return corev1.ResourceName(countPrefix + res.String())
}

// usageOf returns the usage of one object.
func usageOf(res *store.Resource, now time.Time, obj store.Object) corev1.ResourceList {
	list := corev1.ResourceList{}
	if quota := counterOf(res); quota != nil {
		list = quota.usage(now, obj)
	}
	list[countName(res)] = one()
	return list
}

func one() quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

// isInScopeOf reports whether an object is in all scopes of a quota. A kind that is counted only by
// its number is in no scope.
func isInScopeOf(res *store.Resource, quota *corev1.ResourceQuota, obj store.Object) bool {
	for _, scope := range quota.Spec.Scopes {
		if !inScope(res, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, obj) {
			return false
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true
	}
	for _, scope := range quota.Spec.ScopeSelector.MatchExpressions {
		if !inScope(res, scope, obj) {
			return false
		}
	}
	return true
}

func inScope(res *store.Resource, scope corev1.ScopedResourceSelectorRequirement, obj store.Object) bool {
	quota := counterOf(res)
	return quota != nil && quota.inScope(scope, obj)
}

var scopeOperators = map[corev1.ScopeSelectorOperator]selection.Operator{
	corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
	corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
}

// matchesScope reports whether one of an object's values for a scope matches. If the object has no
// such value, the scope decides.
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

// usedOf describes the usage of a quota: of the resources with the prefix "limits.", or of all
// others.
func usedOf(q *corev1.ResourceQuota, limits bool) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		if strings.HasPrefix(string(name), "limits.") == limits {
			used, hard := q.Status.Used[name], q.Status.Hard[name]
			texts = append(texts, fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String()))
		}
	}
	return strings.Join(texts, ", ")
}
