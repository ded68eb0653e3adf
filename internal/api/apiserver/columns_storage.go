package apiserver

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	columnsOf["persistentvolumes"] = volumeColumns
	columnsOf["persistentvolumeclaims"] = claimColumns
	columnsOf["storageclasses.storage.k8s.io"] = classColumns
	columnsOf["csidrivers.storage.k8s.io"] = driverColumns
	columnsOf["csinodes.storage.k8s.io"] = []column{
		nameColumn, show("Drivers", "integer", func(n *storagev1.CSINode) any { return int64(len(n.Spec.Drivers)) }), ageColumn,
	}
	columnsOf["csistoragecapacities.storage.k8s.io"] = plainColumns
	columnsOf["customresourcedefinitions.apiextensions.k8s.io"] = plainColumns
	columnsOf["volumeattachments.storage.k8s.io"] = attachmentColumns
	columnsOf["volumeattributesclasses.storage.k8s.io"] = []column{
		named(text("Name", func(c *storagev1.VolumeAttributesClass) string {
			return markDefault(c, "storageclass.kubernetes.io/is-default-class")
		})),
		text("DriverName", func(c *storagev1.VolumeAttributesClass) string { return c.DriverName }),
		ageColumn,
	}
}

// plainColumns are those of kinds for which nobody thought of others.
var plainColumns = []column{
	nameColumn, show("Created At", "date", func(obj store.Object) any { return obj.GetCreationTimestamp().UTC().Format(time.RFC3339) }),
}

const betaClass = "volume.beta.kubernetes.io/storage-class"

var volumeColumns = []column{
	nameColumn,
	text("Capacity", func(v *corev1.PersistentVolume) string {
		size := v.Spec.Capacity[corev1.ResourceStorage]
		return size.String()
	}),
	text("Access Modes", func(v *corev1.PersistentVolume) string { return accessModes(v.Spec.AccessModes) }),
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
		return cmp.Or(v.Annotations[betaClass], v.Spec.StorageClassName)
	}),
	text("VolumeAttributesClass", func(v *corev1.PersistentVolume) string { return orUnset(v.Spec.VolumeAttributesClassName) }),
	text("Reason", func(v *corev1.PersistentVolume) string { return v.Status.Reason }),
	ageColumn,
	wide(text("VolumeMode", func(v *corev1.PersistentVolume) string { return volumeMode(v.Spec.VolumeMode) })),
}

var claimColumns = []column{
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
		return accessModes(c.Status.AccessModes)
	}),
	text("StorageClass", func(c *corev1.PersistentVolumeClaim) string {
		if class, ok := c.Annotations[betaClass]; ok {
			return class
		}
		if c.Spec.StorageClassName == nil {
			return ""
		}
		return *c.Spec.StorageClassName
	}),
	text("VolumeAttributesClass", func(c *corev1.PersistentVolumeClaim) string { return orUnset(c.Spec.VolumeAttributesClassName) }),
	ageColumn,
	wide(text("VolumeMode", func(c *corev1.PersistentVolumeClaim) string { return volumeMode(c.Spec.VolumeMode) })),
}

var classColumns = []column{
	named(text("Name", func(c *storagev1.StorageClass) string {
		return markDefault(c, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	})),
	text("Provisioner", func(c *storagev1.StorageClass) string { return c.Provisioner }),
	text("ReclaimPolicy", func(c *storagev1.StorageClass) string {
		if c.ReclaimPolicy == nil {
			return "Delete"
		}
		return string(*c.ReclaimPolicy)
	}),
	text("VolumeBindingMode", func(c *storagev1.StorageClass) string {
		if c.VolumeBindingMode == nil {
			return "Immediate"
		}
		return string(*c.VolumeBindingMode)
	}),
	show("AllowVolumeExpansion", "string", func(c *storagev1.StorageClass) any {
		return c.AllowVolumeExpansion != nil && *c.AllowVolumeExpansion
	}),
	ageColumn,
}

var driverColumns = []column{
	nameColumn,
	show("AttachRequired", "boolean", func(d *storagev1.CSIDriver) any { return d.Spec.AttachRequired == nil || *d.Spec.AttachRequired }),
	show("PodInfoOnMount", "boolean", func(d *storagev1.CSIDriver) any { return isTrue(d.Spec.PodInfoOnMount) }),
	show("StorageCapacity", "boolean", func(d *storagev1.CSIDriver) any { return isTrue(d.Spec.StorageCapacity) }),
	text("TokenRequests", func(d *storagev1.CSIDriver) string {
		if d.Spec.TokenRequests == nil {
			return "<unset>"
		}
		audiences := []string{}
		for _, t := range d.Spec.TokenRequests {
			audiences = append(audiences, t.Audience)
		}
		return strings.Join(audiences, ",")
	}),
	show("RequiresRepublish", "boolean", func(d *storagev1.CSIDriver) any { return isTrue(d.Spec.RequiresRepublish) }),
	text("Modes", func(d *storagev1.CSIDriver) string {
		modes := []string{}
		for _, m := range d.Spec.VolumeLifecycleModes {
			modes = append(modes, string(m))
		}
		if len(modes) == 0 {
			return "<none>"
		}
		return strings.Join(modes, ",")
	}),
	ageColumn,
}

var attachmentColumns = []column{
	nameColumn,
	named(text("Attacher", func(a *storagev1.VolumeAttachment) string { return a.Spec.Attacher })),
	text("PV", func(a *storagev1.VolumeAttachment) string {
		if name := a.Spec.Source.PersistentVolumeName; name != nil {
			return *name
		}
		return ""
	}),
	text("Node", func(a *storagev1.VolumeAttachment) string { return a.Spec.NodeName }),
	show("Attached", "boolean", func(a *storagev1.VolumeAttachment) any { return a.Status.Attached }),
	ageColumn,
}

// accessModes in the order and the short form in which kubectl shows them.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
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

func volumeMode(mode *corev1.PersistentVolumeMode) string {
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

func isTrue(b *bool) bool { return b != nil && *b }

// markDefault is the name of a class, with a note if one of the annotations makes it
// the default.
func markDefault(class store.Object, annotations ...string) string {
	for _, name := range annotations {
		if class.GetAnnotations()[name] == "true" {
			return class.GetName() + " (default)"
		}
	}
	return class.GetName()
}
