package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

// classSuffix ends what a quota says of one class: gold.storageclass.storage.k8s.io/requests.storage.
const classSuffix = ".storageclass.storage.k8s.io/"

// admitQuota refuses a claim, or its growth, that exceeds a quota of its namespace. What
// is used is what the claims there ask for now; the quota's own status, which a controller
// keeps in a real cluster, does not count. Quotas with scopes are not about claims.
func admitQuota(cluster Reader, now, was *corev1.PersistentVolumeClaim) error {
	var used, more corev1.ResourceList
	for quota := range List[*corev1.ResourceQuota](cluster, now.Namespace) {
		if len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil {
			continue
		}
		if used == nil {
			used, more = usageIn(cluster, now.Namespace), growth(now, was)
		}
		if exceeded := exceeds(quota.Spec.Hard, used, more); len(exceeded) > 0 {
			return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), now.Name, fmt.Errorf(
				"exceeded quota: %s, requested: %s, used: %s, limited: %s",
				quota.Name, amounts(more, exceeded), amounts(used, exceeded), amounts(quota.Spec.Hard, exceeded)))
		}
	}
	return nil
}

// usage is what a claim counts for in quotas. A size that an expansion has been given
// counts until it is taken back.
func usage(pvc *corev1.PersistentVolumeClaim) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	size := pvc.Spec.Resources.Requests.Storage().DeepCopy()
	if given := pvc.Status.AllocatedResources.Storage(); given.Cmp(size) > 0 {
		size = given.DeepCopy()
	}
	size.RoundUp(0)
	list := corev1.ResourceList{
		corev1.ResourcePersistentVolumeClaims: one, "count/persistentvolumeclaims": one, corev1.ResourceRequestsStorage: size,
	}
	if class := classOf(pvc); class != "" {
		list[corev1.ResourceName(class+classSuffix)+corev1.ResourcePersistentVolumeClaims] = one
		list[corev1.ResourceName(class+classSuffix)+corev1.ResourceRequestsStorage] = size
	}
	return list
}

// growth is by how much a claim counts for more than before; nil was not there.
func growth(now, was *corev1.PersistentVolumeClaim) corev1.ResourceList {
	more := usage(now)
	if was == nil {
		return more
	}
	before := usage(was)
	for name, amount := range more { // any order: each for itself
		amount.Sub(before[name])
		if amount.Sign() <= 0 {
			delete(more, name)
		} else {
			more[name] = amount
		}
	}
	return more
}

func usageIn(cluster Reader, namespace string) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for pvc := range List[*corev1.PersistentVolumeClaim](cluster, namespace) {
		for name, amount := range usage(pvc) { // any order: each for itself
			total := sum[name]
			total.Add(amount)
			sum[name] = total
		}
	}
	return sum
}

// exceeds are the limits, sorted, that would be exceeded.
func exceeds(hard, used, more corev1.ResourceList) []corev1.ResourceName {
	var exceeded []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(more)) {
		limit, limited := hard[name]
		total := used[name].DeepCopy()
		total.Add(more[name])
		if limited && total.Cmp(limit) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	return exceeded
}

func amounts(list corev1.ResourceList, names []corev1.ResourceName) string {
	texts := make([]string, len(names))
	for i, name := range names {
		amount := list[name]
		texts[i] = fmt.Sprintf("%s=%s", name, amount.String())
	}
	return strings.Join(texts, ",")
}
