package store

import (
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of the snapshot CustomResourceDefinitions, with their messages.

var snapshotRules = rules{
	statusOnly: true,
	validate: func(obj Object) field.ErrorList {
		spec := &obj.(*snapshotv1.VolumeSnapshot).Spec
		return append(optionalName(field.NewPath("spec"), "volumeSnapshotClassName", spec.VolumeSnapshotClassName),
			exactlyOne(field.NewPath("spec", "source"), "volumeSnapshotContentName", spec.Source.VolumeSnapshotContentName != nil,
				"persistentVolumeClaimName", spec.Source.PersistentVolumeClaimName != nil)...)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := &obj.(*snapshotv1.VolumeSnapshot).Spec.Source, &old.(*snapshotv1.VolumeSnapshot).Spec.Source
		path := field.NewPath("spec", "source")
		return append(settled(path, "persistentVolumeClaimName", now.PersistentVolumeClaimName, was.PersistentVolumeClaimName),
			settled(path, "volumeSnapshotContentName", now.VolumeSnapshotContentName, was.VolumeSnapshotContentName)...)
	},
	indexes: []indexer{
		indexed(SnapshotsByClaim, func(to []string, s *snapshotv1.VolumeSnapshot) []string {
			if s.Spec.Source.PersistentVolumeClaimName == nil {
				return to
			}
			return append(to, s.Namespace+"/"+*s.Spec.Source.PersistentVolumeClaimName)
		}),
	},
}

var snapshotClassRules = rules{
	validate: func(obj Object) field.ErrorList {
		class := obj.(*snapshotv1.VolumeSnapshotClass)
		return append(mandatory(field.NewPath("driver"), class.Driver), deletionPolicy(field.NewPath("deletionPolicy"), class.DeletionPolicy)...)
	},
}

var snapshotContentRules = rules{
	statusOnly: true,
	validate: func(obj Object) field.ErrorList {
		spec, path := &obj.(*snapshotv1.VolumeSnapshotContent).Spec, field.NewPath("spec")
		errs := mandatory(path.Child("driver"), spec.Driver)
		errs = append(errs, deletionPolicy(path.Child("deletionPolicy"), spec.DeletionPolicy)...)
		errs = append(errs, namedReference(path.Child("volumeSnapshotRef"), "spec.volumeSnapshotRef", spec.VolumeSnapshotRef)...)
		return append(errs, exactlyOne(path.Child("source"), "volumeHandle", spec.Source.VolumeHandle != nil,
			"snapshotHandle", spec.Source.SnapshotHandle != nil)...)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was, path := &obj.(*snapshotv1.VolumeSnapshotContent).Spec, &old.(*snapshotv1.VolumeSnapshotContent).Spec, field.NewPath("spec")
		errs := namedReference(path.Child("volumeSnapshotRef"), "spec.volumeSnapshotRef", now.VolumeSnapshotRef)
		errs = append(errs, settled(path, "sourceVolumeMode", now.SourceVolumeMode, was.SourceVolumeMode)...)
		errs = append(errs, settled(path.Child("source"), "volumeHandle", now.Source.VolumeHandle, was.Source.VolumeHandle)...)
		return append(errs, settled(path.Child("source"), "snapshotHandle", now.Source.SnapshotHandle, was.Source.SnapshotHandle)...)
	},
}

func mandatory(path *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return nil
}

func deletionPolicy(path *field.Path, policy snapshotv1.DeletionPolicy) field.ErrorList {
	if policy == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return oneOf(path, policy, snapshotv1.VolumeSnapshotContentDelete, snapshotv1.VolumeSnapshotContentRetain)
}

// optionalName: a name that is given must not be empty.
func optionalName(path *field.Path, name string, value *string) field.ErrorList {
	if value != nil && *value == "" {
		return field.ErrorList{field.Invalid(path.Child(name), *value, name+" must not be the empty string when set")}
	}
	return nil
}

// exactlyOne of two fields must be set.
func exactlyOne(path *field.Path, a string, hasA bool, b string, hasB bool) field.ErrorList {
	if hasA != hasB {
		return nil
	}
	return field.ErrorList{field.Invalid(path, "object", "exactly one of "+a+" and "+b+" must be set")}
}

// settled: a field that is set stays set, and as it is.
func settled[T any](path *field.Path, name string, now, was *T) field.ErrorList {
	switch {
	case was == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Invalid(path, "object", name+" is required once set")}
	case !equality.Semantic.DeepEqual(now, was):
		return field.ErrorList{field.Invalid(path.Child(name), *now, name+" is immutable")}
	}
	return nil
}

func namedReference(path *field.Path, name string, ref corev1.ObjectReference) field.ErrorList {
	if ref.Name != "" && ref.Namespace != "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, "object", "both "+name+".name and "+name+".namespace must be set")}
}
