package resizer

import (
	"context"
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	modifyInProgress = corev1.PersistentVolumeClaimModifyVolumeInProgress
	modifyInfeasible = corev1.PersistentVolumeClaimModifyVolumeInfeasible
	modifyPending    = corev1.PersistentVolumeClaimModifyVolumePending
)

// syncAttributes gives the volume of a claim the attributes that the claim requests. C-RES-40
func (r *run) syncAttributes(p *kernel.Process, key store.Key) error {
	pvc, ok := component.Cached[claim](r.Component, key)
	if !ok || pvc.Spec.VolumeName == "" {
		return nil
	}
	pv, ok := component.Cached[persistentVolume](r.Component, store.Key{Name: pvc.Spec.VolumeName})
	if !ok {
		return fmt.Errorf("PV %q bound to pvc %q not found", pvc.Spec.VolumeName, key)
	}
	if pv.Spec.CSI == nil || pv.Spec.CSI.Driver != r.features.driver || pvc.Status.Phase != corev1.ClaimBound {
		return nil
	}
	return r.modify(p, key, pvc, pv)
}

// course is the next action for a claim's attributes.
type course string

const (
	nothing    course = "nothing"
	rolledBack course = "roll back"
	resume     course = "continue the current modification"
	begin      course = "begin the requested modification"
)

// courseOf implements C-RES-41. While the outcome of a call is unknown, the target is kept.
func courseOf(pvc claim, uncertain bool) course {
	asked, status := asked(pvc), pvc.Status.ModifyVolumeStatus
	underWay := status != nil && status.Status == modifyInProgress
	switch {
	case status == nil && asked == current(pvc):
		return nothing
	case asked == "" && !underWay:
		return rolledBack
	case asked == "" || underWay && uncertain:
		return resume
	}
	return begin
}

func asked(pvc claim) string   { return deref(pvc.Spec.VolumeAttributesClassName) }
func current(pvc claim) string { return deref(pvc.Status.CurrentVolumeAttributesClassName) }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (r *run) modify(p *kernel.Process, key store.Key, pvc claim, pv persistentVolume) error {
	if err := r.restInfeasible(p, key, pvc); err != nil {
		return err
	}
	switch courseOf(pvc, r.uncertain[key]) {
	case rolledBack:
		return r.rollBack(p, pvc)
	case resume:
		class, err := r.attributesClass(pvc, pvc.Status.ModifyVolumeStatus.TargetVolumeAttributesClassName)
		if err != nil {
			return err
		}
		return r.modifyTo(p, key, pvc, pv, class)
	case begin:
		class, err := r.attributesClass(pvc, asked(pvc))
		if err != nil { // C-RES-42: not retried before the resync
			return r.markPending(p, pvc)
		}
		if pvc, err = r.markModifying(p, pvc); err != nil {
			return err
		}
		r.event(pvc, corev1.EventTypeNormal, "VolumeModify", "external resizer is modifying volume %s with vac %s", pvc.Name, class.Name)
		return r.modifyTo(p, key, pvc, pv, class)
	}
	return nil
}

// restInfeasible skips a target with a recent infeasible result. C-RES-46
func (r *run) restInfeasible(p *kernel.Process, key store.Key, pvc claim) error {
	status := pvc.Status.ModifyVolumeStatus
	if status == nil || pvc.Spec.VolumeAttributesClassName == nil || status.TargetVolumeAttributesClassName != asked(pvc) {
		r.unmodifiable.remove(key)
		return nil
	}
	_, resting := r.unmodifiable.rest(key, p.Elapsed())
	if status.Status == modifyInfeasible {
		r.unmodifiable.add(key, p.Elapsed())
	}
	if resting {
		return fmt.Errorf("skipping volume modification for pvc %s, because modification previously failed with infeasible error", key)
	}
	return nil
}

func (r *run) attributesClass(pvc claim, name string) (*storagev1.VolumeAttributesClass, error) {
	class, ok := component.Cached[*storagev1.VolumeAttributesClass](r.Component, store.Key{Name: name})
	if !ok {
		r.event(pvc, corev1.EventTypeWarning, "VolumeModifyFailed", "VAC %q does not exist.", name)
		return nil, store.NotFound[*storagev1.VolumeAttributesClass](store.Key{Name: name})
	}
	return class, nil
}

// modifyTo makes the driver modify the volume and records the result. C-RES-44, C-RES-45
func (r *run) modifyTo(p *kernel.Process, key store.Key, pvc claim, pv persistentVolume, class *storagev1.VolumeAttributesClass) error {
	cause := r.callModify(p, pv, class)
	if cause == nil {
		if err := r.markModified(p, pvc, pv, class.Name); err != nil {
			return fmt.Errorf("modify volume failed to mark pvc %s modify volume completed: %w", pvc.Name, err)
		}
		r.event(pvc, corev1.EventTypeNormal, "VolumeModifySuccessful", "external resizer modified volume %s with vac %s successfully", pvc.Name, class.Name)
		return nil
	}
	defer r.life.ExitIfLost(cause)
	code, answered := codeOf(cause)
	if !answered {
		return fmt.Errorf("cannot get error status from modify volume err: %w", cause)
	}
	message, status := cause.Error(), modifyInProgress
	switch {
	case !isFinal(cause):
		r.uncertain[key] = true
		message += ". Still modifying to VAC " + class.Name
	case code == codes.InvalidArgument:
		delete(r.uncertain, key)
		status = modifyInfeasible
	default:
		delete(r.uncertain, key)
	}
	if err := r.markModifyFailed(p, pvc, status, cause); err != nil {
		return err
	}
	if status == modifyInfeasible {
		r.unmodifiable.add(key, p.Elapsed())
	}
	r.event(pvc, corev1.EventTypeWarning, "VolumeModifyFailed", "%s", message)
	return cause
}

func (r *run) callModify(p *kernel.Process, pv persistentVolume, class *storagev1.VolumeAttributesClass) error {
	source := pv.Spec.CSI
	if source.VolumeHandle == "" {
		return errors.New("empty volume handle")
	}
	secrets, err := sidecar.ReadSecret(p, r.Component, modifySecret(pv))
	if err != nil {
		return err
	}
	_, err = csi.NewControllerClient(r.conn(p)).ControllerModifyVolume(context.Background(), &csi.ControllerModifyVolumeRequest{
		VolumeId: source.VolumeHandle, Secrets: secrets, MutableParameters: class.Parameters,
	})
	return err
}

// modifySecret: C-RES-43
func modifySecret(pv persistentVolume) *corev1.SecretReference {
	name, namespace := pv.Annotations[annModifySecretName], pv.Annotations[annModifySecretNamespace]
	if name == "" || namespace == "" {
		return pv.Spec.CSI.ControllerExpandSecretRef
	}
	return &corev1.SecretReference{Name: name, Namespace: namespace}
}

const (
	annModifySecretName      = "volume.kubernetes.io/controller-modify-secret-name"
	annModifySecretNamespace = "volume.kubernetes.io/controller-modify-secret-namespace"
)
