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
		Group: "groupsnapshot.storage.k8s.io", Version: "v1", Name: "VolumeGroupSnapshotClass",
		ShortNames: []string{"vgsclass", "vgsclasses"},
		fresh:      func() store.Object { return &groupv1.VolumeGroupSnapshotClass{} },
		Forms: olderGroupForms("VolumeGroupSnapshotClass", func() store.Object { return &groupv1beta2.VolumeGroupSnapshotClass{} },
			func() store.Object { return &groupv1beta1.VolumeGroupSnapshotClass{} }, func() store.Object { return &groupv1.VolumeGroupSnapshotClass{} }),
		traits: ofDefinition | clusterScoped, rules: groupSnapshotClassRules,
		Columns: snapshotClassColumns,
	})
}

var groupSnapshotClassRules = rules[*groupv1.VolumeGroupSnapshotClass]{
	validate: func(class *groupv1.VolumeGroupSnapshotClass) field.ErrorList {
		return ruled(driverAndPolicy(nil, class.Driver, class.DeletionPolicy), nil)
	},
	validateUpdate: func(now, was *groupv1.VolumeGroupSnapshotClass) field.ErrorList {
		rules := immutableOnceSet(field.NewPath("deletionPolicy"), "deletionPolicy is", now.DeletionPolicy, was.DeletionPolicy)
		rules = append(rules, immutableOnceSet(field.NewPath("driver"), "driver is", now.Driver, was.Driver)...)
		if len(now.Parameters) > 0 && len(was.Parameters) > 0 { // as long as both exist
			rules = append(rules, immutableOnceSet(field.NewPath("parameters"), "parameters are", now.Parameters, was.Parameters)...)
		}
		return ruled(driverAndPolicy(nil, now.Driver, now.DeletionPolicy), rules)
	},
}
