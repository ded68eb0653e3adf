package kind

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// classInfix occurs in a quota's resource names for one storage class:
// gold.storageclass.storage.k8s.io/requests.storage.
const classInfix = ".storageclass.storage.k8s.io/"

// claimQuota counts claims, by size and by class. (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/persistent_volume_claims.go)
var claimQuota = evaluator[*corev1.PersistentVolumeClaim]{
	limits: func(name corev1.ResourceName) bool {
		if _, what, ofClass := strings.Cut(string(name), classInfix); ofClass {
			name = corev1.ResourceName(what)
		}
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
	},
	usage: func(_ time.Time, obj *corev1.PersistentVolumeClaim) corev1.ResourceList {
		return claimUsage(obj)
	},
	inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj *corev1.PersistentVolumeClaim) bool {
		return scope.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass && matchesScope(scope, attributesClasses(obj))
	},
	grows: true,
}

func claimUsage(pvc *corev1.PersistentVolumeClaim) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: one()}
	size, asked := requestedSize(pvc)
	if asked {
		list[corev1.ResourceRequestsStorage] = size
	}
	if class := classOf(pvc); class != "" {
		list[corev1.ResourceName(class+classInfix)+corev1.ResourcePersistentVolumeClaims] = one()
		if asked {
			list[corev1.ResourceName(class+classInfix)+corev1.ResourceRequestsStorage] = size
		}
	}
	return list
}

// requestedSize returns the request of a claim, in whole bytes. The allocated size of an expansion
// counts until it is reduced.
func requestedSize(pvc *corev1.PersistentVolumeClaim) (size quantity, asked bool) {
	size, asked = pvc.Spec.Resources.Requests[corev1.ResourceStorage]
	size = size.DeepCopy()
	if given := pvc.Status.AllocatedResources.Storage(); given.Cmp(size) > 0 {
		size = given.DeepCopy()
	}
	size.RoundUp(0)
	return size, asked
}

// attributesClasses returns the requested, current and target VolumeAttributesClasses of a claim.
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
