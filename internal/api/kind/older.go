package kind

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// drop removes the fields that an older API server does not keep. A field that an object already
// has stays, as after a downgrade. C-GEN-14
func (o options) drop(w store.Write) {
	if o.release == nil {
		return
	}
	switch obj := w.Obj.(type) {
	case *corev1.PersistentVolumeClaim:
		old, _ := w.Old.(*corev1.PersistentVolumeClaim)
		o.dropOfClaim(obj, old)
	case *corev1.PersistentVolume:
		old, _ := w.Old.(*corev1.PersistentVolume)
		o.dropOfVolume(obj, old)
	}
}

func (o options) dropOfClaim(pvc, old *corev1.PersistentVolumeClaim) {
	if old == nil {
		old = &corev1.PersistentVolumeClaim{}
		if !o.has(version.DataSourceRef) {
			pvc.Spec.DataSourceRef = nil
		}
	}
	if !o.has(version.AttributesClasses) && old.Spec.VolumeAttributesClassName == nil {
		pvc.Spec.VolumeAttributesClassName = nil
	}
	if o.has(version.SmallerExpansion) {
		return
	}
	if old.Status.AllocatedResources == nil {
		pvc.Status.AllocatedResources = nil
	}
	if old.Status.AllocatedResourceStatuses == nil {
		pvc.Status.AllocatedResourceStatuses = nil
	}
}

func (o options) dropOfVolume(pv, old *corev1.PersistentVolume) {
	if old == nil {
		old = &corev1.PersistentVolume{}
	}
	if !o.has(version.AttributesClasses) && old.Spec.VolumeAttributesClassName == nil {
		pv.Spec.VolumeAttributesClassName = nil
	}
	if !o.has(version.PhaseTransitionTime) && old.Status.LastPhaseTransitionTime == nil {
		pv.Status.LastPhaseTransitionTime = nil
	}
}

// refuse rejects a write that the newest API server permits and an older one rejects. C-GEN-14
func (o options) refuse(w store.Write) error {
	if o.release == nil || w.Part == store.StatusPart {
		return nil
	}
	var errs field.ErrorList
	switch obj := w.Obj.(type) {
	case *corev1.PersistentVolumeClaim:
		if old, ok := w.Old.(*corev1.PersistentVolumeClaim); ok {
			errs = o.refuseSmaller(obj, old)
		} else {
			errs = o.refuseOncePod(field.NewPath("spec", "accessModes"), obj.Spec.AccessModes)
		}
	case *corev1.PersistentVolume:
		if w.Old == nil {
			errs = o.refuseOncePod(field.NewPath("spec", "accessModes"), obj.Spec.AccessModes)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(w.Resource.GVK.GroupKind(), w.Obj.GetName(), errs)
}

func (o options) refuseSmaller(now, was *corev1.PersistentVolumeClaim) field.ErrorList {
	if o.has(version.SmallerExpansion) || now.Spec.Resources.Requests.Storage().Cmp(*was.Spec.Resources.Requests.Storage()) >= 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "resources", "requests", "storage"), "field can not be less than previous value")}
}

func (o options) refuseOncePod(path *field.Path, modes []corev1.PersistentVolumeAccessMode) (errs field.ErrorList) {
	if o.has(version.OncePod) {
		return nil
	}
	for _, mode := range modes {
		errs = append(errs, oneOf(path, mode, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce)...)
	}
	return errs
}
