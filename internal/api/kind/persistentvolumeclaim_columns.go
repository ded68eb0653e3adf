package kind

import (
	corev1 "k8s.io/api/core/v1"
)

var claimColumns = []Column{
	nameColumn,
	text("Status", func(c *corev1.PersistentVolumeClaim) string {
		if c.DeletionTimestamp != nil {
			return "Terminating"
		}
		return string(c.Status.Phase)
	}),
	text("Volume", func(c *corev1.PersistentVolumeClaim) string { return c.Spec.VolumeName }),
	text("Capacity", func(c *corev1.PersistentVolumeClaim) string {
		if c.Spec.VolumeName == "" {
			return ""
		}
		size := c.Status.Capacity[corev1.ResourceStorage]
		return size.String()
	}),
	text("Access Modes", func(c *corev1.PersistentVolumeClaim) string {
		if c.Spec.VolumeName == "" {
			return ""
		}
		return shortAccessModes(c.Status.AccessModes)
	}),
	text("StorageClass", func(c *corev1.PersistentVolumeClaim) string {
		if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
			return class
		}
		if c.Spec.StorageClassName == nil {
			return ""
		}
		return *c.Spec.StorageClassName
	}),
	text("VolumeAttributesClass", func(c *corev1.PersistentVolumeClaim) string { return orUnset(c.Spec.VolumeAttributesClassName) }),
	ageColumn,
	wide(text("VolumeMode", func(c *corev1.PersistentVolumeClaim) string { return volumeModeText(c.Spec.VolumeMode) })),
}
