package apiserver

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

type wantedColumn = apiextensionsv1.CustomResourceColumnDefinition

// The columns that the definitions of the snapshot kinds have.
func init() {
	ready := wantedColumn{Name: "ReadyToUse", Type: "boolean", JSONPath: ".status.readyToUse"}
	class := []wantedColumn{{Name: "Driver", Type: "string", JSONPath: ".driver"}, {Name: "DeletionPolicy", Type: "string", JSONPath: ".deletionPolicy"}}
	policy := wantedColumn{Name: "DeletionPolicy", Type: "string", JSONPath: ".spec.deletionPolicy"}
	driver := wantedColumn{Name: "Driver", Type: "string", JSONPath: ".spec.driver"}
	for resource, wanted := range map[string][]wantedColumn{
		"volumesnapshots.snapshot.storage.k8s.io": {
			ready,
			{Name: "SourcePVC", Type: "string", JSONPath: ".spec.source.persistentVolumeClaimName"},
			{Name: "SourceSnapshotContent", Type: "string", JSONPath: ".spec.source.volumeSnapshotContentName"},
			{Name: "RestoreSize", Type: "string", JSONPath: ".status.restoreSize"},
			{Name: "SnapshotClass", Type: "string", JSONPath: ".spec.volumeSnapshotClassName"},
			{Name: "SnapshotContent", Type: "string", JSONPath: ".status.boundVolumeSnapshotContentName"},
			{Name: "CreationTime", Type: "date", JSONPath: ".status.creationTime"},
		},
		"volumesnapshotclasses.snapshot.storage.k8s.io": class,
		"volumesnapshotcontents.snapshot.storage.k8s.io": {
			ready,
			{Name: "RestoreSize", Type: "integer", JSONPath: ".status.restoreSize"},
			policy, driver,
			{Name: "VolumeSnapshotClass", Type: "string", JSONPath: ".spec.volumeSnapshotClassName"},
			{Name: "VolumeSnapshot", Type: "string", JSONPath: ".spec.volumeSnapshotRef.name"},
			{Name: "VolumeSnapshotNamespace", Type: "string", JSONPath: ".spec.volumeSnapshotRef.namespace"},
		},
		"volumegroupsnapshots.groupsnapshot.storage.k8s.io": {
			ready,
			{Name: "VolumeGroupSnapshotClass", Type: "string", JSONPath: ".spec.volumeGroupSnapshotClassName"},
			{Name: "VolumeGroupSnapshotContent", Type: "string", JSONPath: ".status.boundVolumeGroupSnapshotContentName"},
			{Name: "CreationTime", Type: "date", JSONPath: ".status.creationTime"},
		},
		"volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io": class,
		"volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io": {
			ready, policy, driver,
			{Name: "VolumeGroupSnapshotClass", Type: "string", JSONPath: ".spec.volumeGroupSnapshotClassName"},
			{Name: "VolumeGroupSnapshotNamespace", Type: "string", JSONPath: ".spec.volumeGroupSnapshotRef.namespace"},
			{Name: "VolumeGroupSnapshot", Type: "string", JSONPath: ".spec.volumeGroupSnapshotRef.name"},
		},
	} {
		age := ageOfAll
		age.Description = ""
		version := apiextensionsv1.CustomResourceDefinitionVersion{AdditionalPrinterColumns: append(wanted[:len(wanted):len(wanted)], age)}
		columnsOf[resource] = ofTyped(columnsOfVersion(&version))
	}
}

// ofTyped are columns of custom resources for objects that have a Go type.
func ofTyped(columns []column) []column {
	for i := 1; i < len(columns); i++ { // the first is the name
		cell := columns[i].cell
		columns[i].cell = func(obj store.Object, now time.Time) any {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
			if err != nil {
				return nil
			}
			return cell(&unstructured.Unstructured{Object: content}, now)
		}
	}
	return columns
}
