package kind

import (
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// C-SNAP-1
func init() {
	register(Kind{
		Group: "snapshot.storage.k8s.io", Version: "v1", Name: "VolumeSnapshotClass",
		ShortNames: []string{"vsclass", "vsclasses"},
		fresh:      func() store.Object { return &snapshotv1.VolumeSnapshotClass{} },
		traits:     ofDefinition | clusterScoped, rules: snapshotClassRules,
		Columns: snapshotClassColumns,
	})
}

var snapshotClassRules = rules[*snapshotv1.VolumeSnapshotClass]{
	passes: []store.Pass{store.PassMetadata, store.PassObject},
	validate: func(class *snapshotv1.VolumeSnapshotClass) field.ErrorList {
		return driverAndPolicy(nil, class.Driver, class.DeletionPolicy)
	},
}
