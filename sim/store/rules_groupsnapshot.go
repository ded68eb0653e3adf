package store

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var groupSnapshotRules = rules{
	statusOnly: true,
	validate: func(obj Object) field.ErrorList {
		spec := &obj.(*groupv1.VolumeGroupSnapshot).Spec
		return append(optionalName(field.NewPath("spec"), "volumeGroupSnapshotClassName", spec.VolumeGroupSnapshotClassName),
			exactlyOne(field.NewPath("spec", "source"), "selector", spec.Source.Selector != nil,
				"volumeGroupSnapshotContentName", spec.Source.VolumeGroupSnapshotContentName != nil)...)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was, path := &obj.(*groupv1.VolumeGroupSnapshot).Spec.Source, &old.(*groupv1.VolumeGroupSnapshot).Spec.Source, field.NewPath("spec", "source")
		return append(settled(path, "selector", now.Selector, was.Selector),
			settled(path, "volumeGroupSnapshotContentName", now.VolumeGroupSnapshotContentName, was.VolumeGroupSnapshotContentName)...)
	},
}

var groupSnapshotClassRules = rules{
	validate: func(obj Object) field.ErrorList {
		class := obj.(*groupv1.VolumeGroupSnapshotClass)
		return append(mandatory(field.NewPath("driver"), class.Driver), deletionPolicy(field.NewPath("deletionPolicy"), class.DeletionPolicy)...)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := obj.(*groupv1.VolumeGroupSnapshotClass), old.(*groupv1.VolumeGroupSnapshotClass)
		errs := immutableOnceSet("driver", "is", now.Driver, was.Driver)
		errs = append(errs, immutableOnceSet("parameters", "are", now.Parameters, was.Parameters)...)
		return append(errs, immutableOnceSet("deletionPolicy", "is", now.DeletionPolicy, was.DeletionPolicy)...)
	},
}

func immutableOnceSet(name, verb string, now, was any) field.ErrorList {
	if immutable(nil, now, was) == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), now, name+" "+verb+" immutable once set")}
}

var groupSnapshotContentRules = rules{
	statusOnly: true,
	validate: func(obj Object) field.ErrorList {
		spec, path := &obj.(*groupv1.VolumeGroupSnapshotContent).Spec, field.NewPath("spec")
		errs := mandatory(path.Child("driver"), spec.Driver)
		errs = append(errs, deletionPolicy(path.Child("deletionPolicy"), spec.DeletionPolicy)...)
		errs = append(errs, namedReference(path.Child("volumeGroupSnapshotRef"), "volumeGroupSnapshotRef", spec.VolumeGroupSnapshotRef)...)
		return append(errs, exactlyOne(path.Child("source"), "volumeHandles", len(spec.Source.VolumeHandles) > 0,
			"groupSnapshotHandles", spec.Source.GroupSnapshotHandles != nil)...)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was, path := &obj.(*groupv1.VolumeGroupSnapshotContent).Spec, &old.(*groupv1.VolumeGroupSnapshotContent).Spec, field.NewPath("spec")
		errs := immutable(path.Child("source"), now.Source, was.Source)
		if ref, before := now.VolumeGroupSnapshotRef, was.VolumeGroupSnapshotRef; before.UID != "" && ref.UID != before.UID {
			errs = append(errs, field.Invalid(path.Child("volumeGroupSnapshotRef"), "object", "volumeGroupSnapshotRef.uid is immutable once set"))
		}
		return errs
	},
}
