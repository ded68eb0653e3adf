package store

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

type quantity = resource.Quantity

// countPrefix begins what a quota calls the number of objects of a kind:
// count/volumesnapshots.snapshot.storage.k8s.io.
const countPrefix = "count/"

// classInfix is within what a quota says of the claims of one storage class:
// gold.storageclass.storage.k8s.io/requests.storage.
const classInfix = ".storageclass.storage.k8s.io/"

// Counted are the kinds that a quota limits, of those that are counted: claims, with
// their size, and the number of objects of any kind.
func Counted(hard corev1.ResourceList) []*Resource {
	var found []*Resource
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		res := claims
		if !res.limits(name) {
			counted, isCount := strings.CutPrefix(string(name), countPrefix)
			res = byName[counted]
			if !isCount || res == nil || !res.Namespaced || !res.limits(name) {
				continue
			}
		}
		if !slices.Contains(found, res) {
			found = append(found, res)
		}
	}
	return found
}

// Usage is what the objects of a quota's namespace use of what it limits. What is not
// counted is left out: pods and services but by their number, and what pods request.
// (k8s.io/apiserver v0.36.3, quota/v1/resources.go: CalculateUsage)
func Usage(cluster Reader, quota *corev1.ResourceQuota) corev1.ResourceList {
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
			usage := res.usage(obj)
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

func (r *Resource) limits(name corev1.ResourceName) bool {
	if name == r.countName() {
		return true
	}
	if r != claims {
		return false
	}
	if _, what, ofClass := strings.Cut(string(name), classInfix); ofClass {
		name = corev1.ResourceName(what)
	}
	return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
}

func (r *Resource) countName() corev1.ResourceName {
	return corev1.ResourceName(countPrefix + r.String())
}

// usage is what an object counts for.
func (r *Resource) usage(obj Object) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	list := corev1.ResourceList{r.countName(): one}
	pvc, isClaim := obj.(*corev1.PersistentVolumeClaim)
	if !isClaim {
		return list
	}
	list[corev1.ResourcePersistentVolumeClaims] = one
	size, asked := requestedSize(pvc)
	if asked {
		list[corev1.ResourceRequestsStorage] = size
	}
	if class := classOf(pvc); class != "" {
		list[corev1.ResourceName(class+classInfix)+corev1.ResourcePersistentVolumeClaims] = one
		if asked {
			list[corev1.ResourceName(class+classInfix)+corev1.ResourceRequestsStorage] = size
		}
	}
	return list
}

// requestedSize is what a claim asks for, in whole bytes. A size that an expansion has been given
// counts until it is taken back.
func requestedSize(pvc *corev1.PersistentVolumeClaim) (size quantity, asked bool) {
	size, asked = pvc.Spec.Resources.Requests[corev1.ResourceStorage]
	size = size.DeepCopy()
	if given := pvc.Status.AllocatedResources.Storage(); given.Cmp(size) > 0 {
		size = given.DeepCopy()
	}
	size.RoundUp(0)
	return size, asked
}

// isInScopeOf reports whether all scopes of a quota are about the object. The only one
// that is about claims is their VolumeAttributesClass; none is about anything else that
// is counted.
func (r *Resource) isInScopeOf(quota *corev1.ResourceQuota, obj Object) bool {
	for _, scope := range quota.Spec.Scopes {
		if !inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, obj) {
			return false
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true
	}
	for _, scope := range quota.Spec.ScopeSelector.MatchExpressions {
		if !inScope(scope, obj) {
			return false
		}
	}
	return true
}

var scopeOperators = map[corev1.ScopeSelectorOperator]selection.Operator{
	corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
	corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
}

// inScope: a claim has as many VolumeAttributesClasses as it asks for, has, and is being
// given, and is in the scope if one of them is. (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/persistent_volume_claims.go: pvcMatchesScopeFunc)
func inScope(scope corev1.ScopedResourceSelectorRequirement, obj Object) bool {
	pvc, isClaim := obj.(*corev1.PersistentVolumeClaim)
	if !isClaim || scope.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
		return false
	}
	wanted, err := labels.NewRequirement(string(scope.ScopeName), scopeOperators[scope.Operator], scope.Values)
	if err != nil {
		return false
	}
	classes := attributesClasses(pvc)
	if len(classes) == 0 {
		return wanted.Matches(labels.Set{})
	}
	return slices.ContainsFunc(classes, func(class string) bool {
		return wanted.Matches(labels.Set{string(scope.ScopeName): class})
	})
}

func attributesClasses(pvc *corev1.PersistentVolumeClaim) []string {
	var classes []string
	for _, class := range []*string{pvc.Spec.VolumeAttributesClassName, pvc.Status.CurrentVolumeAttributesClassName} {
		if class != nil && *class != "" {
			classes = append(classes, *class)
		}
	}
	if modify := pvc.Status.ModifyVolumeStatus; modify != nil && modify.TargetVolumeAttributesClassName != "" {
		classes = append(classes, modify.TargetVolumeAttributesClassName)
	}
	return classes
}
