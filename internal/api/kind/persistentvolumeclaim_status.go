package kind

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resizeStatuses are the states of a resize, sorted.
var resizeStatuses = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizePending,
}

func checkClaimStatus(obj, _ *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	status := &obj.Status
	for _, name := range sortedKeys(status.Capacity) {
		if size := status.Capacity[name]; size.Sign() < 0 {
			errs = append(errs, notNegative(field.NewPath("status", "capacity").Key(string(name)), size)...)
		}
	}
	for _, name := range sortedKeys(status.AllocatedResourceStatuses) {
		at := field.NewPath("status", "allocatedResourceStatuses")
		errs = append(errs, claimResource(at, name)...)
		if !slices.Contains(resizeStatuses, status.AllocatedResourceStatuses[name]) {
			errs = append(errs, field.NotSupported(at, name, resizeStatuses))
		}
	}
	for _, name := range sortedKeys(status.AllocatedResources) {
		errs = append(errs, allocated(field.NewPath("status", "allocatedResources"), name, status.AllocatedResources[name])...)
	}
	return errs
}

func allocated(at *field.Path, name corev1.ResourceName, size resource.Quantity) field.ErrorList {
	if errs := claimResource(at, name); len(errs) > 0 {
		return errs
	}
	return notNegative(at.Key(string(name)), size)
}

// claimResource checks the name of a claim's resource: of Kubernetes' own resources, only storage
// is permitted.
func claimResource(at *field.Path, name corev1.ResourceName) field.ErrorList {
	if errs := qualifiedName(at, string(name)); len(errs) > 0 {
		return errs
	}
	native := !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
	if native && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(at, name, []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return nil
}
