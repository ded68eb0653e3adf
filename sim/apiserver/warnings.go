package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/sim/store"
)

// warnings are what the real server says of objects that it takes.
func warnings(obj store.Object) (texts []string) {
	switch o := obj.(type) {
	case *corev1.PersistentVolume:
		texts = append(texts, betaClassWarning(o.Annotations)...)
		if o.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
			texts = append(texts, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
		}
		texts = append(texts, fractionWarning("spec.capacity[storage]", o.Spec.Capacity)...)
	case *corev1.PersistentVolumeClaim:
		texts = append(texts, betaClassWarning(o.Annotations)...)
		texts = append(texts, fractionWarning("spec.resources.requests[storage]", o.Spec.Resources.Requests)...)
		texts = append(texts, fractionWarning("spec.resources.limits[storage]", o.Spec.Resources.Limits)...)
	case *storagev1.CSIDriver:
		if len(o.Spec.TokenRequests) > 0 && o.Spec.ServiceAccountTokenInSecrets == nil {
			texts = append(texts, "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes")
		}
	}
	return texts
}

func betaClassWarning(annotations map[string]string) []string {
	if _, ok := annotations[betaClass]; !ok {
		return nil
	}
	return []string{fmt.Sprintf("metadata.annotations[%s]: deprecated since v1.8; use \"storageClassName\" attribute instead", betaClass)}
}

func fractionWarning(field string, sizes corev1.ResourceList) []string {
	size, ok := sizes[corev1.ResourceStorage]
	if !ok || size.MilliValue()%1000 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", field, size.String())}
}
