package kind

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var volumeColumns = []Column{
	nameColumn,
	text("Capacity", func(v *corev1.PersistentVolume) string {
		size := v.Spec.Capacity[corev1.ResourceStorage]
		return size.String()
	}),
	text("Access Modes", func(v *corev1.PersistentVolume) string { return shortAccessModes(v.Spec.AccessModes) }),
	text("Reclaim Policy", func(v *corev1.PersistentVolume) string { return string(v.Spec.PersistentVolumeReclaimPolicy) }),
	text("Status", func(v *corev1.PersistentVolume) string {
		if v.DeletionTimestamp != nil {
			return "Terminating"
		}
		return string(v.Status.Phase)
	}),
	text("Claim", func(v *corev1.PersistentVolume) string {
		if v.Spec.ClaimRef == nil {
			return ""
		}
		return v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name
	}),
	text("StorageClass", func(v *corev1.PersistentVolume) string {
		return cmp.Or(v.Annotations[corev1.BetaStorageClassAnnotation], v.Spec.StorageClassName)
	}),
	text("VolumeAttributesClass", func(v *corev1.PersistentVolume) string { return orUnset(v.Spec.VolumeAttributesClassName) }),
	text("Reason", func(v *corev1.PersistentVolume) string { return v.Status.Reason }),
	ageColumn,
	wide(text("VolumeMode", func(v *corev1.PersistentVolume) string { return volumeModeText(v.Spec.VolumeMode) })),
}

// shortAccessModes returns access modes in kubectl's order and short form.
func shortAccessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		name string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			short = append(short, m.name)
		}
	}
	return strings.Join(short, ",")
}

func volumeModeText(mode *corev1.PersistentVolumeMode) string {
	if mode == nil {
		return "<unset>"
	}
	return string(*mode)
}

func orUnset(name *string) string {
	if name == nil {
		return "<unset>"
	}
	return *name
}
