package kind

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	groupv1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta1"
	groupv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// C-GSNAP-1
func init() {
	register(Kind{
		Group: "groupsnapshot.storage.k8s.io", Version: "v1", Name: "VolumeGroupSnapshotContent",
		ShortNames: []string{"vgsc", "vgscs"},
		fresh:      func() store.Object { return &groupv1.VolumeGroupSnapshotContent{} },
		Forms: olderGroupForms("VolumeGroupSnapshotContent", func() store.Object { return &groupv1beta2.VolumeGroupSnapshotContent{} },
			func() store.Object { return &groupv1beta1.VolumeGroupSnapshotContent{} }, func() store.Object { return &groupv1.VolumeGroupSnapshotContent{} }),
		traits: ofDefinition | clusterScoped | withStatus, rules: groupSnapshotContentRules,
		Columns: columnsOfDefinition(
			readyColumn, policyColumn, driverColumn,
			wantedColumn{Name: "VolumeGroupSnapshotClass", Type: "string", JSONPath: ".spec.volumeGroupSnapshotClassName"},
			wantedColumn{Name: "VolumeGroupSnapshotNamespace", Type: "string", JSONPath: ".spec.volumeGroupSnapshotRef.namespace"},
			wantedColumn{Name: "VolumeGroupSnapshot", Type: "string", JSONPath: ".spec.volumeGroupSnapshotRef.name"},
		),
	})
}

var groupSnapshotContentRules = rules[*groupv1.VolumeGroupSnapshotContent]{
	statusOnly: true,
	validate: func(obj *groupv1.VolumeGroupSnapshotContent) field.ErrorList {
		spec, path := &obj.Spec, field.NewPath("spec")
		rules := append(groupContentSource(&spec.Source), namedReference(path.Child("volumeGroupSnapshotRef"), "volumeGroupSnapshotRef", spec.VolumeGroupSnapshotRef)...)
		return ruled(driverAndPolicy(path, spec.Driver, spec.DeletionPolicy), rules)
	},
	validateUpdate: func(obj, old *groupv1.VolumeGroupSnapshotContent) field.ErrorList {
		now, was, path := &obj.Spec, &old.Spec, field.NewPath("spec")
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
