package store

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var groupSnapshotRules = rules{
	statusOnly: true,
	validate: func(obj Object) field.ErrorList {
		spec := &obj.(*groupv1.VolumeGroupSnapshot).Spec
		return append(optionalName(field.NewPath("spec"), "volumeGroupSnapshotClassName", spec.VolumeGroupSnapshotClassName), groupSource(&spec.Source)...)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		spec, was, path := &obj.(*groupv1.VolumeGroupSnapshot).Spec, &old.(*groupv1.VolumeGroupSnapshot).Spec.Source, field.NewPath("spec", "source")
		now := &spec.Source
		errs := optionalName(field.NewPath("spec"), "volumeGroupSnapshotClassName", spec.VolumeGroupSnapshotClassName)
		errs = append(errs, stays(path, "selector", now.Selector, was.Selector)...)
		errs = append(errs, stays(path, "volumeGroupSnapshotContentName", now.VolumeGroupSnapshotContentName, was.VolumeGroupSnapshotContentName)...)
		errs = append(errs, groupSource(now)...)
		errs = append(errs, settled(path, "selector", now.Selector, was.Selector)...)
		return append(errs, settled(path, "volumeGroupSnapshotContentName", now.VolumeGroupSnapshotContentName, was.VolumeGroupSnapshotContentName)...)
	},
}

func groupSource(source *groupv1.VolumeGroupSnapshotSource) field.ErrorList {
	return exactlyOne(field.NewPath("spec", "source"), "selector", source.Selector != nil,
		"volumeGroupSnapshotContentName", source.VolumeGroupSnapshotContentName != nil)
}

var groupSnapshotClassRules = rules{
	validate: func(obj Object) field.ErrorList {
		class := obj.(*groupv1.VolumeGroupSnapshotClass)
		return ruled(driverAndPolicy(nil, class.Driver, class.DeletionPolicy), nil)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := obj.(*groupv1.VolumeGroupSnapshotClass), old.(*groupv1.VolumeGroupSnapshotClass)
		rules := immutableOnceSet(field.NewPath("deletionPolicy"), "deletionPolicy is", now.DeletionPolicy, was.DeletionPolicy)
		rules = append(rules, immutableOnceSet(field.NewPath("driver"), "driver is", now.Driver, was.Driver)...)
		if len(now.Parameters) > 0 && len(was.Parameters) > 0 { // as long as both are there
			rules = append(rules, immutableOnceSet(field.NewPath("parameters"), "parameters are", now.Parameters, was.Parameters)...)
		}
		return ruled(driverAndPolicy(nil, now.Driver, now.DeletionPolicy), rules)
	},
}

func immutableOnceSet(path *field.Path, what string, now, was any) field.ErrorList {
	if equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return immutableRule(path, now, what+" immutable once set")
}

var groupSnapshotContentRules = rules{
	statusOnly: true,
	validate: func(obj Object) field.ErrorList {
		spec, path := &obj.(*groupv1.VolumeGroupSnapshotContent).Spec, field.NewPath("spec")
		rules := append(groupContentSource(&spec.Source), namedReference(path.Child("volumeGroupSnapshotRef"), "volumeGroupSnapshotRef", spec.VolumeGroupSnapshotRef)...)
		return ruled(driverAndPolicy(path, spec.Driver, spec.DeletionPolicy), rules)
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was, path := &obj.(*groupv1.VolumeGroupSnapshotContent).Spec, &old.(*groupv1.VolumeGroupSnapshotContent).Spec, field.NewPath("spec")
		rules := immutableOnceSet(path.Child("driver"), "driver is", now.Driver, was.Driver)
		rules = append(rules, groupContentChange(&now.Source, &was.Source)...)
		if was.VolumeGroupSnapshotClassName != nil && now.VolumeGroupSnapshotClassName != nil {
			rules = append(rules, immutableOnceSet(path.Child("volumeGroupSnapshotClassName"), "volumeGroupSnapshotClassName is",
				*now.VolumeGroupSnapshotClassName, *was.VolumeGroupSnapshotClassName)...)
		}
		ref, before, at := now.VolumeGroupSnapshotRef, was.VolumeGroupSnapshotRef, path.Child("volumeGroupSnapshotRef")
		rules = append(rules, namedReference(at, "volumeGroupSnapshotRef", ref)...)
		if ref.Name != before.Name || ref.Namespace != before.Namespace {
			rules = append(rules, broken(at, "volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace are immutable")...)
		}
		if before.UID != "" && ref.UID != before.UID {
			rules = append(rules, broken(at, "volumeGroupSnapshotRef.uid is immutable once set")...)
		}
		return ruled(driverAndPolicy(path, now.Driver, now.DeletionPolicy), rules)
	},
}

func groupContentSource(source *groupv1.VolumeGroupSnapshotContentSource) field.ErrorList {
	return exactlyOne(field.NewPath("spec", "source"), "volumeHandles", len(source.VolumeHandles) > 0,
		"groupSnapshotHandles", source.GroupSnapshotHandles != nil)
}

func groupContentChange(now, was *groupv1.VolumeGroupSnapshotContentSource) field.ErrorList {
	path := field.NewPath("spec", "source")
	var errs field.ErrorList
	if len(was.VolumeHandles) > 0 && len(now.VolumeHandles) == 0 {
		errs = broken(path, "volumeHandles is required once set")
	}
	errs = append(errs, stays(path, "groupSnapshotHandles", now.GroupSnapshotHandles, was.GroupSnapshotHandles)...)
	errs = append(errs, groupContentSource(now)...)
	errs = append(errs, settled(path, "groupSnapshotHandles", now.GroupSnapshotHandles, was.GroupSnapshotHandles)...)
	if len(was.VolumeHandles) > 0 && len(now.VolumeHandles) > 0 && !equality.Semantic.DeepEqual(now.VolumeHandles, was.VolumeHandles) {
		errs = append(errs, broken(path.Child("volumeHandles"), "volumeHandles is immutable")...)
	}
	return errs
}
