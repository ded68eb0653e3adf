package kind

import (
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// C-SNAP-1
func init() {
	register(Kind{
		Group: "snapshot.storage.k8s.io", Version: "v1", Name: "VolumeSnapshotContent",
		ShortNames: []string{"vsc", "vscs"},
		fresh:      func() store.Object { return &snapshotv1.VolumeSnapshotContent{} },
		traits:     ofDefinition | clusterScoped | withStatus, rules: snapshotContentRules,
		Columns: columnsOfDefinition(
			readyColumn,
			wantedColumn{Name: "RestoreSize", Type: "integer", JSONPath: ".status.restoreSize"},
			policyColumn, driverColumn,
			wantedColumn{Name: "VolumeSnapshotClass", Type: "string", JSONPath: ".spec.volumeSnapshotClassName"},
			wantedColumn{Name: "VolumeSnapshot", Type: "string", JSONPath: ".spec.volumeSnapshotRef.name"},
			wantedColumn{Name: "VolumeSnapshotNamespace", Type: "string", JSONPath: ".spec.volumeSnapshotRef.namespace"},
		),
	})
}

var snapshotContentRules = rules[*snapshotv1.VolumeSnapshotContent]{
	statusOnly: true,
	validate: func(obj *snapshotv1.VolumeSnapshotContent) field.ErrorList {
		spec, path := &obj.Spec, field.NewPath("spec")
		rules := append(contentSource(&spec.Source), namedReference(path.Child("volumeSnapshotRef"), "spec.volumeSnapshotRef", spec.VolumeSnapshotRef)...)
		return ruled(driverAndPolicy(path, spec.Driver, spec.DeletionPolicy), rules)
	},
	validateUpdate: func(obj, old *snapshotv1.VolumeSnapshotContent) field.ErrorList {
		now, was, path := &obj.Spec, &old.Spec, field.NewPath("spec")
		source := path.Child("source")
		rules := stays(path, "sourceVolumeMode", now.SourceVolumeMode, was.SourceVolumeMode)
		rules = append(rules, stays(source, "volumeHandle", now.Source.VolumeHandle, was.Source.VolumeHandle)...)
		rules = append(rules, stays(source, "snapshotHandle", now.Source.SnapshotHandle, was.Source.SnapshotHandle)...)
		rules = append(rules, contentSource(&now.Source)...)
		rules = append(rules, settled(source, "snapshotHandle", now.Source.SnapshotHandle, was.Source.SnapshotHandle)...)
		rules = append(rules, settled(source, "volumeHandle", now.Source.VolumeHandle, was.Source.VolumeHandle)...)
		rules = append(rules, settled(path, "sourceVolumeMode", now.SourceVolumeMode, was.SourceVolumeMode)...)
		rules = append(rules, namedReference(path.Child("volumeSnapshotRef"), "spec.volumeSnapshotRef", now.VolumeSnapshotRef)...)
		return ruled(driverAndPolicy(path, now.Driver, now.DeletionPolicy), rules)
	},
}

func contentSource(source *snapshotv1.VolumeSnapshotContentSource) field.ErrorList {
	return exactlyOne(field.NewPath("spec", "source"), "volumeHandle", source.VolumeHandle != nil, "snapshotHandle", source.SnapshotHandle != nil)
}
