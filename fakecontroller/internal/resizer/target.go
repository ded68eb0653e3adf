package resizer

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// progress holds the facts that decide the next size of a claim's volume.
type progress struct {
	requested resource.Quantity
	volume    resource.Quantity  // the PersistentVolume's capacity
	allocated *resource.Quantity // the size of the expansion in progress, nil for none
	status    corev1.ClaimResourceStatus
	// refused means that the driver's last answer was a final error.
	refused bool
	// control means that the driver expands in the control plane.
	control bool
	// nodePending means that the claim waits for its node. Older claims have no such status.
	nodePending bool
}

func progressOf(pvc claim, pv persistentVolume, refused, control bool) progress {
	s := progress{
		requested: *pvc.Spec.Resources.Requests.Storage(), volume: *pv.Spec.Capacity.Storage(),
		status: resizeStatus(pvc), refused: refused, control: control,
		nodePending: hasCondition(pvc, corev1.PersistentVolumeClaimFileSystemResizePending),
	}
	if size, ok := pvc.Status.AllocatedResources[corev1.ResourceStorage]; ok {
		s.allocated = &size
	}
	return s
}

// target returns the size to expand to, false if the node has to act first.
func (s progress) target() (resource.Quantity, bool) {
	if s.volume.Cmp(s.requested) < 0 {
		return s.targetOfSmallVolume()
	}
	return s.targetOfLargeVolume()
}

// targetOfSmallVolume returns the target for a volume that is too small. An expansion in progress
// is completed before a larger one begins. C-RES-12
func (s progress) targetOfSmallVolume() (resource.Quantity, bool) {
	switch s.status {
	case corev1.PersistentVolumeClaimNodeResizeInfeasible:
		return s.allocatedOr(s.requested), true
	case corev1.PersistentVolumeClaimNodeResizePending, corev1.PersistentVolumeClaimNodeResizeInProgress:
		size := s.allocatedOr(s.requested)
		return size, s.volume.Cmp(size) < 0
	case corev1.PersistentVolumeClaimControllerResizeInProgress:
		if s.refused {
			return s.requested, true
		}
		return s.allocatedOr(s.requested), true
	}
	return s.requested, true
}

// targetOfLargeVolume handles a volume that the driver has already expanded: the result was not
// recorded, the node refused, or a smaller size is requested now. C-RES-13
func (s progress) targetOfLargeVolume() (resource.Quantity, bool) {
	switch s.status {
	case corev1.PersistentVolumeClaimNodeResizePending, corev1.PersistentVolumeClaimNodeResizeInProgress:
		return resource.Quantity{}, false
	case corev1.PersistentVolumeClaimNodeResizeInfeasible:
		if s.control {
			return s.allocatedOr(s.requested), true
		}
		return s.requested, true
	case corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible:
		return s.allocatedOr(s.requested), true
	}
	if s.allocated == nil {
		return s.requested, !s.nodePending
	}
	return *s.allocated, true
}

func (s progress) allocatedOr(otherwise resource.Quantity) resource.Quantity {
	if s.allocated != nil {
		return *s.allocated
	}
	return otherwise
}
