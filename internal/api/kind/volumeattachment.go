package store

import (
	"math"

	storagev1 "k8s.io/api/storage/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var attachmentRules = rules{
	statusOnly: true,
	validate:   func(obj Object) field.ErrorList { return checkAttachment(obj.(*storagev1.VolumeAttachment)) },
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := obj.(*storagev1.VolumeAttachment), old.(*storagev1.VolumeAttachment)
		return immutable(field.NewPath("spec"), now.Spec, was.Spec)
	},
	passes:         []pass{whole, rest},
	validateStatus: checkAttachmentStatus,
	indexes: []indexer{
		indexed(AttachmentsByNode, func(to []string, va *storagev1.VolumeAttachment) []string {
			return append(to, va.Spec.NodeName)
		}),
		indexed(AttachmentsByVolume, func(to []string, va *storagev1.VolumeAttachment) []string {
			if va.Spec.Source.PersistentVolumeName == nil {
				return to
			}
			return append(to, *va.Spec.Source.PersistentVolumeName)
		}),
		indexed(AttachmentsByAttacher, func(to []string, va *storagev1.VolumeAttachment) []string {
			return append(to, va.Spec.Attacher)
		}),
	},
}

func checkAttachment(va *storagev1.VolumeAttachment) field.ErrorList {
	path := field.NewPath("spec")
	errs := driverName(path.Child("attacher"), va.Spec.Attacher)
	errs = append(errs, attachmentSource(path.Child("source"), va.Spec.Source)...)
	errs = append(errs, subdomain(path.Child("nodeName"), va.Spec.NodeName)...)
	if name := va.Spec.Source.PersistentVolumeName; name != nil {
		errs = append(errs, subdomain(field.NewPath("spec.source.persistentVolumeName"), *name)...)
	}
	return errs
}

func attachmentSource(path *field.Path, source storagev1.VolumeAttachmentSource) field.ErrorList {
	const rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch {
	case source.InlineVolumeSpec == nil && source.PersistentVolumeName == nil:
		return field.ErrorList{field.Required(path, rule)}
	case source.InlineVolumeSpec != nil && source.PersistentVolumeName != nil:
		return field.ErrorList{field.Forbidden(path, rule)}
	case source.PersistentVolumeName != nil && *source.PersistentVolumeName == "":
		return field.ErrorList{field.Required(path.Child("persistentVolumeName"), "must specify non empty persistentVolumeName")}
	case source.InlineVolumeSpec != nil:
		return checkInlineVolume(path.Child("inlineVolumeSpec"), source.InlineVolumeSpec)
	}
	return nil
}

// The limits of what an attachment says, in bytes; the real server names the second
// for both.
const (
	maxVolumeError        = 1024
	maxAttachmentMetadata = 256 * 1024
)

func checkAttachmentStatus(obj, _ Object) (errs field.ErrorList) {
	status := &obj.(*storagev1.VolumeAttachment).Status
	if sizeOf(status.AttachmentMetadata) > maxAttachmentMetadata {
		errs = append(errs, field.TooLong(field.NewPath("status", "attachmentMetadata"), "", maxAttachmentMetadata))
	}
	errs = append(errs, volumeError("attachError", status.AttachError)...)
	return append(errs, volumeError("detachError", status.DetachError)...)
}

func volumeError(name string, e *storagev1.VolumeError) (errs field.ErrorList) {
	if e == nil {
		return nil
	}
	if len(e.Message) > maxVolumeError {
		errs = append(errs, field.TooLong(field.NewPath("status", name, "message"), "", maxAttachmentMetadata))
	}
	if e.ErrorCode != nil && *e.ErrorCode < 0 {
		errs = append(errs, field.Invalid(field.NewPath("status", name, "errorCode"), *e.ErrorCode, utilvalidation.InclusiveRangeError(0, math.MaxInt32)))
	}
	return errs
}

var capacityRules = rules{
	passes:   []pass{whole, changed, rest},
	validate: func(obj Object) field.ErrorList { return checkCapacity(obj.(*storagev1.CSIStorageCapacity)) },
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := obj.(*storagev1.CSIStorageCapacity), old.(*storagev1.CSIStorageCapacity)
		errs := immutable(field.NewPath("nodeTopology"), now.NodeTopology, was.NodeTopology)
		return append(errs, immutable(field.NewPath("storageClassName"), now.StorageClassName, was.StorageClassName)...)
	},
}

func checkCapacity(capacity *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := metav1validation.ValidateLabelSelector(capacity.NodeTopology, metav1validation.LabelSelectorValidationOptions{}, field.NewPath("nodeTopology"))
	errs = append(errs, subdomain(field.NewPath("storageClassName"), capacity.StorageClassName)...)
	if capacity.Capacity != nil && capacity.Capacity.Sign() < 0 {
		errs = append(errs, field.Invalid(field.NewPath("capacity"), capacity.Capacity.String(), "must be greater than or equal to 0"))
	}
	return errs
}
