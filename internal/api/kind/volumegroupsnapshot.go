package kind

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	groupv1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta1"
	groupv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// C-GSNAP-1
func init() {
	register(Kind{
		Group: "groupsnapshot.storage.k8s.io", Version: "v1", Name: "VolumeGroupSnapshot",
		ShortNames: []string{"vgs"},
		fresh:      func() store.Object { return &groupv1.VolumeGroupSnapshot{} },
		Forms: olderGroupForms("VolumeGroupSnapshot", func() store.Object { return &groupv1beta2.VolumeGroupSnapshot{} },
			func() store.Object { return &groupv1beta1.VolumeGroupSnapshot{} }, func() store.Object { return &groupv1.VolumeGroupSnapshot{} }),
		traits: ofDefinition | withStatus, rules: groupSnapshotRules,
		Columns: columnsOfDefinition(
			readyColumn,
			wantedColumn{Name: "VolumeGroupSnapshotClass", Type: "string", JSONPath: ".spec.volumeGroupSnapshotClassName"},
			wantedColumn{Name: "VolumeGroupSnapshotContent", Type: "string", JSONPath: ".status.boundVolumeGroupSnapshotContentName"},
			wantedColumn{Name: "CreationTime", Type: "date", JSONPath: ".status.creationTime"},
		),
	})
}

var groupSnapshotRules = rules[*groupv1.VolumeGroupSnapshot]{
	statusOnly: true,
	validate: func(obj *groupv1.VolumeGroupSnapshot) field.ErrorList {
		spec := &obj.Spec
		return append(optionalName(field.NewPath("spec"), "volumeGroupSnapshotClassName", spec.VolumeGroupSnapshotClassName), groupSource(&spec.Source)...)
	},
	validateUpdate: func(obj, old *groupv1.VolumeGroupSnapshot) field.ErrorList {
		spec, was, path := &obj.Spec, &old.Spec.Source, field.NewPath("spec", "source")
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
