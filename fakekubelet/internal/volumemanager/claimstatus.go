package volumemanager

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The kubelet and csi-resizer exchange the state of an expansion in the claim's status. K-EXP-9,
// K-EXP-12

// resizeConditions are the conditions that are about the claim's size.
var resizeConditions = []corev1.PersistentVolumeClaimConditionType{
	corev1.PersistentVolumeClaimFileSystemResizePending, corev1.PersistentVolumeClaimResizing,
	corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError,
}

func storageOf(list corev1.ResourceList) resource.Quantity { return list[corev1.ResourceStorage] }

// resizeStatus returns the state of a claim's expansion.
func resizeStatus(claim *corev1.PersistentVolumeClaim) corev1.ClaimResourceStatus {
	return claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
}

func setResizeStatus(claim *corev1.PersistentVolumeClaim, status corev1.ClaimResourceStatus) {
	if claim.Status.AllocatedResourceStatuses == nil {
		claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{}
	}
	claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage] = status
}

// markInProgress conflicts with concurrent writes of the claim.
func (m *Manager) markInProgress(p *kernel.Process, claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaim, error) {
	return m.updateClaim(p, claim, func(c *corev1.PersistentVolumeClaim) {
		setResizeStatus(c, corev1.PersistentVolumeClaimNodeResizeInProgress)
	})
}

// markExpanded ends the expansion. Like markResizing, it conflicts with concurrent writes.
func (m *Manager) markExpanded(p *kernel.Process, claim *corev1.PersistentVolumeClaim, size resource.Quantity) (*corev1.PersistentVolumeClaim, error) {
	return m.updateClaim(p, claim, func(c *corev1.PersistentVolumeClaim) {
		c.Status.Capacity[corev1.ResourceStorage] = size
		delete(c.Status.AllocatedResourceStatuses, corev1.ResourceStorage)
		if len(c.Status.AllocatedResourceStatuses) == 0 {
			c.Status.AllocatedResourceStatuses = nil
		}
		c.Status.Conditions = slices.DeleteFunc(c.Status.Conditions, func(one corev1.PersistentVolumeClaimCondition) bool {
			return slices.Contains(resizeConditions, one.Type)
		})
	})
}

// updateClaim writes the status of a claim based on the version that was read.
func (m *Manager) updateClaim(p *kernel.Process, claim *corev1.PersistentVolumeClaim, change func(*corev1.PersistentVolumeClaim)) (*corev1.PersistentVolumeClaim, error) {
	changed := claim.DeepCopy()
	if changed.Status.Capacity == nil {
		changed.Status.Capacity = corev1.ResourceList{}
	}
	change(changed)
	updated, err := component.UpdateStatus(p, m.kubelet, changed)
	if err != nil {
		return claim, fmt.Errorf("patchPVCStatus failed to patch PVC %q: %w", claim.Name, err)
	}
	return updated, nil
}

// markFailed reports a failure, regardless of concurrent writes of the claim. If the size is
// infeasible, csi-resizer tries again. If the status cannot be written, no event is emitted.
// K-EXP-12
func (m *Manager) markFailed(p *kernel.Process, claim *corev1.PersistentVolumeClaim, infeasible bool, failure error) {
	_, _ = component.PatchStatus(p, m.kubelet, store.KeyOf(claim), func(c *corev1.PersistentVolumeClaim) {
		if infeasible {
			setResizeStatus(c, corev1.PersistentVolumeClaimNodeResizeInfeasible)
		}
		addCondition(c, corev1.PersistentVolumeClaimCondition{
			Type: corev1.PersistentVolumeClaimNodeResizeError, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(m.kubelet.Kernel.Now()),
			Message:            fmt.Sprintf("failed to expand pvc with %v", failure),
		})
	})
}

// addCondition adds a condition. If the claim already has the condition, the old condition stays
// with its message. K-EXP-12
func addCondition(claim *corev1.PersistentVolumeClaim, c corev1.PersistentVolumeClaimCondition) {
	for i := range claim.Status.Conditions {
		if was := &claim.Status.Conditions[i]; was.Type == c.Type {
			if was.Status != c.Status {
				*was = c
			}
			return
		}
	}
	claim.Status.Conditions = append(claim.Status.Conditions, c)
}
