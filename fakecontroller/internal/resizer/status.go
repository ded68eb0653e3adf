package resizer

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// annNodeExpansionNotRequired informs kubelets that a volume needs no expansion on nodes. C-EXP-7
const annNodeExpansionNotRequired = "volume.kubernetes.io/node-expansion-not-required"

// condition types that an expansion sets. C-RES-15
var resizeConditions = map[corev1.PersistentVolumeClaimConditionType]bool{
	corev1.PersistentVolumeClaimResizing:                true,
	corev1.PersistentVolumeClaimFileSystemResizePending: true,
	corev1.PersistentVolumeClaimControllerResizeError:   true,
	corev1.PersistentVolumeClaimNodeResizeError:         true,
}

// patchStatus patches a claim's status and keeps the result over the cache. With asSeen,
// a change since the read is a conflict.
func (r *run) patchStatus(p *kernel.Process, pvc claim, asSeen bool, change func(claim)) (claim, error) {
	patched, err := component.PatchStatus(p, r.Component, store.KeyOf(pvc), func(now claim) {
		if asSeen {
			now.ResourceVersion = pvc.ResourceVersion
		}
		change(now)
	})
	if err != nil {
		return nil, fmt.Errorf("can't patch status of PVC %s with %w", store.KeyOf(pvc), err)
	}
	r.claims.Put(patched)
	return patched, nil
}

// markInProgress records the expansion in the claim before it begins. If two clients write the
// claim, one gets a conflict. C-RES-14
func (r *run) markInProgress(p *kernel.Process, pvc claim, size resource.Quantity, repeated bool) (claim, error) {
	marked, err := r.patchStatus(p, pvc, true, func(pvc claim) {
		if !r.opts.recovers() {
			dropConditions(pvc)
			setCondition(p, pvc, corev1.PersistentVolumeClaimResizing, "")
			return
		}
		if !repeated {
			dropConditions(pvc)
			setStatus(pvc, corev1.PersistentVolumeClaimControllerResizeInProgress)
		}
		setCondition(p, pvc, corev1.PersistentVolumeClaimResizing, "")
		delete(pvc.Annotations, annNodeExpansionNotRequired)
		if pvc.Status.AllocatedResources == nil {
			pvc.Status.AllocatedResources = corev1.ResourceList{}
		}
		pvc.Status.AllocatedResources[corev1.ResourceStorage] = size
	})
	if err != nil {
		return nil, fmt.Errorf("marking pvc %q as resizing failed: %w", store.KeyOf(pvc), err)
	}
	return marked, nil
}

// markRefused: C-RES-20
func (r *run) markRefused(p *kernel.Process, pvc claim, cause error) error {
	_, err := r.patchStatus(p, pvc, false, func(pvc claim) {
		setCondition(p, pvc, corev1.PersistentVolumeClaimControllerResizeError, fmt.Sprintf("failed to expand pvc with %v", cause))
		if isInfeasible(cause) {
			setStatus(pvc, corev1.PersistentVolumeClaimControllerResizeInfeasible)
		}
	})
	return err
}

// markForNode leaves the rest to a kubelet. C-RES-22
func (r *run) markForNode(p *kernel.Process, pvc claim) error {
	_, err := r.patchStatus(p, pvc, true, func(pvc claim) {
		if !r.opts.recovers() {
			dropConditions(pvc)
		}
		setCondition(p, pvc, corev1.PersistentVolumeClaimFileSystemResizePending,
			"Waiting for user to (re-)start a pod to finish file system resize of volume on node.")
		if !r.opts.recovers() {
			return
		}
		delete(pvc.Annotations, annNodeExpansionNotRequired)
		setStatus(pvc, corev1.PersistentVolumeClaimNodeResizePending)
	})
	if err != nil {
		return fmt.Errorf("mark PVC %q as node expansion required failed: %w", store.KeyOf(pvc), err)
	}
	r.event(pvc, corev1.EventTypeNormal, "FileSystemResizeRequired", "Require file system resize of volume on node")
	return nil
}

// markFinished: C-RES-22
func (r *run) markFinished(p *kernel.Process, pvc claim, size resource.Quantity) error {
	_, err := r.patchStatus(p, pvc, true, func(pvc claim) {
		pvc.Status.Capacity[corev1.ResourceStorage] = size
		dropConditions(pvc)
		delete(pvc.Status.AllocatedResourceStatuses, corev1.ResourceStorage)
		if len(pvc.Status.AllocatedResourceStatuses) == 0 {
			pvc.Status.AllocatedResourceStatuses = nil
		}
		if r.opts.Version.Has(sidecar.NoNodeExpansion) {
			metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, annNodeExpansionNotRequired, "true")
		}
	})
	if err != nil {
		return fmt.Errorf("mark PVC %q as resize finished failed: %w", store.KeyOf(pvc), err)
	}
	r.event(pvc, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Resize volume succeeded")
	return nil
}

func setStatus(pvc claim, status corev1.ClaimResourceStatus) {
	if pvc.Status.AllocatedResourceStatuses == nil {
		pvc.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{}
	}
	pvc.Status.AllocatedResourceStatuses[corev1.ResourceStorage] = status
}

// setCondition sets a condition to true. An existing condition keeps its place.
func setCondition(p *kernel.Process, pvc claim, kind corev1.PersistentVolumeClaimConditionType, message string) {
	condition := corev1.PersistentVolumeClaimCondition{
		Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(p.Now()), Message: message,
	}
	for i := range pvc.Status.Conditions {
		if pvc.Status.Conditions[i].Type == kind {
			pvc.Status.Conditions[i] = condition
			return
		}
	}
	pvc.Status.Conditions = append(pvc.Status.Conditions, condition)
}

// dropConditions removes the conditions of an earlier expansion.
func dropConditions(pvc claim) {
	var kept []corev1.PersistentVolumeClaimCondition
	for _, c := range pvc.Status.Conditions {
		if !resizeConditions[c.Type] {
			kept = append(kept, c)
		}
	}
	pvc.Status.Conditions = kept
}

func hasCondition(pvc claim, kind corev1.PersistentVolumeClaimConditionType) bool {
	for _, c := range pvc.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
