package kind

import (
	"math"

	storagev1 "k8s.io/api/storage/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "VolumeAttachment",
		traits: clusterScoped | withStatus | conditional, rules: attachmentRules,
		Aliases:        []string{"va"},
		Columns:        attachmentColumns,
		AnswersDeleted: true,
	})
}

const (
	// AttachmentsByNode finds volume attachments by spec.nodeName.
	AttachmentsByNode store.Index = "attachments by node"
	// AttachmentsByVolume finds volume attachments by the persistent volume's name.
	AttachmentsByVolume store.Index = "attachments by volume"
	// AttachmentsByAttacher finds volume attachments by spec.attacher.
	AttachmentsByAttacher store.Index = "attachments by attacher"
)

var attachmentRules = rules[*storagev1.VolumeAttachment]{
	copyPart: store.CopyOf(func(o *storagev1.VolumeAttachment) (*storagev1.VolumeAttachmentSpec, *storagev1.VolumeAttachmentStatus) {
		return &o.Spec, &o.Status
	}),
	share: func(s *store.Shared, va *storagev1.VolumeAttachment, _ bool) {
		s.Text(&va.Annotations)
		s.Text(&va.Status.AttachmentMetadata)
	},
	fill: func(va *storagev1.VolumeAttachment) {
		if inline := va.Spec.Source.InlineVolumeSpec; inline != nil {
			fillSource(&inline.PersistentVolumeSource)
		}
	},
	statusOnly: true,
	validate:   checkAttachment,
	validateUpdate: func(now, was *storagev1.VolumeAttachment) field.ErrorList {
		return immutable(field.NewPath("spec"), now.Spec, was.Spec)
	},
	passes:         []store.Pass{store.PassObject, store.PassChange},
	validateStatus: checkAttachmentStatus,
	indexes: []store.Indexer{
		store.IndexBy(AttachmentsByNode, func(to []string, va *storagev1.VolumeAttachment) []string {
			return append(to, va.Spec.NodeName)
		}),
		store.IndexBy(AttachmentsByVolume, func(to []string, va *storagev1.VolumeAttachment) []string {
			if va.Spec.Source.PersistentVolumeName == nil {
				return to
			}
			return append(to, *va.Spec.Source.PersistentVolumeName)
		}),
		store.IndexBy(AttachmentsByAttacher, func(to []string, va *storagev1.VolumeAttachment) []string {
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

// Limits of an attachment's status, in bytes. The real server names the second limit in both
// messages.
const (
	maxVolumeError        = 1024
	maxAttachmentMetadata = 256 * 1024
)

func checkAttachmentStatus(obj, _ *storagev1.VolumeAttachment) (errs field.ErrorList) {
	status := &obj.Status
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

var attachmentColumns = []Column{
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
