package resizer

import (
	"fmt"
	"slices"

	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	modifyingVolume   = corev1.PersistentVolumeClaimVolumeModifyingVolume
	modifyVolumeError = corev1.PersistentVolumeClaimVolumeModifyVolumeError
)

// markPending records that the class is missing, and keeps the target. C-RES-42
func (r *run) markPending(p *kernel.Process, pvc claim) error {
	_, err := r.patchModify(p, pvc, true, func(pvc claim) { modifyStatusOf(pvc).Status = modifyPending })
	return err
}

// markModifying writes the modification in progress, before it begins. C-RES-42
func (r *run) markModifying(p *kernel.Process, pvc claim) (claim, error) {
	return r.patchModify(p, pvc, true, func(pvc claim) {
		s := modifyStatusOf(pvc)
		s.Status, s.TargetVolumeAttributesClassName = modifyInProgress, asked(pvc)
		setModifyCondition(p, pvc, modifyingVolume, "", fmt.Sprintf("Modifying volume to %q is in progress.", asked(pvc)))
	})
}

// markModifyFailed: C-RES-45
func (r *run) markModifyFailed(p *kernel.Process, pvc claim, to corev1.PersistentVolumeClaimModifyVolumeStatus, cause error) error {
	_, err := r.patchModify(p, pvc, true, func(pvc claim) {
		s := modifyStatusOf(pvc)
		s.Status = to
		outcome := "is still in progress."
		if isFinal(cause) {
			outcome = "failed. Waiting for retry."
		}
		setModifyCondition(p, pvc, modifyingVolume, "", fmt.Sprintf("Modifying volume to %q %s", s.TargetVolumeAttributesClassName, outcome))
		answer := status.Convert(cause)
		setModifyCondition(p, pvc, modifyVolumeError, answer.Code().String(), answer.Message())
	})
	return err
}

// markModified writes the volume before the claim, so the claim is never ahead of it. C-RES-44
func (r *run) markModified(p *kernel.Process, pvc claim, pv persistentVolume, class string) error {
	_, err := component.Patch(p, r.Component, store.KeyOf(pv), func(pv persistentVolume) { pv.Spec.VolumeAttributesClassName = &class })
	if err != nil {
		return fmt.Errorf("update pv.Spec.VolumeAttributesClassName for PVC %q failed, errored with: %w", pvc.Name, err)
	}
	_, err = r.patchModify(p, pvc, false, func(pvc claim) {
		pvc.Status.ModifyVolumeStatus = nil
		pvc.Status.CurrentVolumeAttributesClassName = &class
		dropModifyConditions(pvc, modifyingVolume, modifyVolumeError)
	})
	return err
}

// rollBack forgets a modification that is no longer requested. The volume does not change. C-RES-41
func (r *run) rollBack(p *kernel.Process, pvc claim) error {
	if !slices.ContainsFunc(pvc.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool { return c.Type == modifyingVolume }) {
		return nil
	}
	r.event(pvc, corev1.EventTypeNormal, "VolumeModifyCanceled", "Cancelled modify.")
	_, err := r.patchModify(p, pvc, false, func(pvc claim) { dropModifyConditions(pvc, modifyingVolume) })
	return err
}

// patchModify patches a claim's status. With requireUnchanged, a change since the read is a
// conflict.
func (r *run) patchModify(p *kernel.Process, pvc claim, asSeen bool, change func(claim)) (claim, error) {
	patched, err := component.PatchStatus(p, r.Component, store.KeyOf(pvc), func(now claim) {
		if asSeen {
			now.ResourceVersion = pvc.ResourceVersion
		}
		change(now)
	})
	if err != nil {
		return nil, fmt.Errorf("mark PVC %q as modify volume failed, errored with: %w", pvc.Name, err)
	}
	return patched, nil
}

func modifyStatusOf(pvc claim) *corev1.ModifyVolumeStatus {
	if pvc.Status.ModifyVolumeStatus == nil {
		pvc.Status.ModifyVolumeStatus = &corev1.ModifyVolumeStatus{}
	}
	return pvc.Status.ModifyVolumeStatus
}

// setModifyCondition sets a condition to true. The transition time stays the same while the reason
// stays the same.
func setModifyCondition(p *kernel.Process, pvc claim, kind corev1.PersistentVolumeClaimConditionType, reason, message string) {
	now := metav1.NewTime(p.Now())
	condition := corev1.PersistentVolumeClaimCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastProbeTime: now, LastTransitionTime: now,
	}
	for i := range pvc.Status.Conditions {
		if old := &pvc.Status.Conditions[i]; old.Type == kind {
			if old.Reason == reason && old.Status == corev1.ConditionTrue {
				condition.LastTransitionTime = old.LastTransitionTime
			}
			*old = condition
			return
		}
	}
	pvc.Status.Conditions = append(pvc.Status.Conditions, condition)
}

func dropModifyConditions(pvc claim, kinds ...corev1.PersistentVolumeClaimConditionType) {
	pvc.Status.Conditions = slices.DeleteFunc(pvc.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
		return slices.Contains(kinds, c.Type)
	})
	if len(pvc.Status.Conditions) == 0 {
		pvc.Status.Conditions = nil
	}
}
