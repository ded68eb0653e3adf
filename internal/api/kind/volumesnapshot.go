package kind

import (
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// C-SNAP-1
func init() {
	register(Kind{
		Group: "snapshot.storage.k8s.io", Version: "v1", Name: "VolumeSnapshot",
		ShortNames: []string{"vs"},
		fresh:      func() store.Object { return &snapshotv1.VolumeSnapshot{} },
		traits:     ofDefinition | withStatus, rules: snapshotRules,
		Columns: columnsOfDefinition(
			readyColumn,
			wantedColumn{Name: "SourcePVC", Type: "string", JSONPath: ".spec.source.persistentVolumeClaimName"},
			wantedColumn{Name: "SourceSnapshotContent", Type: "string", JSONPath: ".spec.source.volumeSnapshotContentName"},
			wantedColumn{Name: "RestoreSize", Type: "string", JSONPath: ".status.restoreSize"},
			wantedColumn{Name: "SnapshotClass", Type: "string", JSONPath: ".spec.volumeSnapshotClassName"},
			wantedColumn{Name: "SnapshotContent", Type: "string", JSONPath: ".status.boundVolumeSnapshotContentName"},
			wantedColumn{Name: "CreationTime", Type: "date", JSONPath: ".status.creationTime"},
		),
	})
}

// SnapshotsByClaim finds volume snapshots by the "namespace/name" of their source claim.
const SnapshotsByClaim store.Index = "snapshots by claim"

var snapshotRules = rules[*snapshotv1.VolumeSnapshot]{
	statusOnly: true,
	validate: func(obj *snapshotv1.VolumeSnapshot) field.ErrorList {
		spec := &obj.Spec
		return append(optionalName(field.NewPath("spec"), "volumeSnapshotClassName", spec.VolumeSnapshotClassName), snapshotSource(&spec.Source)...)
	},
	validateUpdate: func(obj, old *snapshotv1.VolumeSnapshot) field.ErrorList {
		spec, was, path := &obj.Spec, &old.Spec.Source, field.NewPath("spec", "source")
		now := &spec.Source
		errs := optionalName(field.NewPath("spec"), "volumeSnapshotClassName", spec.VolumeSnapshotClassName)
		errs = append(errs, stays(path, "persistentVolumeClaimName", now.PersistentVolumeClaimName, was.PersistentVolumeClaimName)...)
		errs = append(errs, stays(path, "volumeSnapshotContentName", now.VolumeSnapshotContentName, was.VolumeSnapshotContentName)...)
		errs = append(errs, snapshotSource(now)...)
		errs = append(errs, settled(path, "persistentVolumeClaimName", now.PersistentVolumeClaimName, was.PersistentVolumeClaimName)...)
		return append(errs, settled(path, "volumeSnapshotContentName", now.VolumeSnapshotContentName, was.VolumeSnapshotContentName)...)
	},
	indexes: []store.Indexer{
		store.IndexBy(SnapshotsByClaim, func(to []string, s *snapshotv1.VolumeSnapshot) []string {
			if s.Spec.Source.PersistentVolumeClaimName == nil {
				return to
			}
			return append(to, s.Namespace+"/"+*s.Spec.Source.PersistentVolumeClaimName)
		}),
	},
}

func snapshotSource(source *snapshotv1.VolumeSnapshotSource) field.ErrorList {
	return exactlyOne(field.NewPath("spec", "source"), "volumeSnapshotContentName", source.VolumeSnapshotContentName != nil,
		"persistentVolumeClaimName", source.PersistentVolumeClaimName != nil)
}
