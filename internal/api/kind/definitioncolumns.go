package kind

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

type wantedColumn = apiextensionsv1.CustomResourceColumnDefinition

// columnsOfDefinition returns the columns of kinds that have a definition in their project and Go
// types here.
func columnsOfDefinition(wanted ...wantedColumn) []Column {
	age := ageOfAll
	age.Description = ""
	version := apiextensionsv1.CustomResourceDefinitionVersion{AdditionalPrinterColumns: append(wanted, age)}
	return ofTyped(ColumnsOfVersion(&version))
}

// Columns of several kinds of snapshots.
var (
	readyColumn  = wantedColumn{Name: "ReadyToUse", Type: "boolean", JSONPath: ".status.readyToUse"}
	policyColumn = wantedColumn{Name: "DeletionPolicy", Type: "string", JSONPath: ".spec.deletionPolicy"}
	driverColumn = wantedColumn{Name: "Driver", Type: "string", JSONPath: ".spec.driver"}

	// snapshotClassColumns are the columns of both kinds of classes.
	snapshotClassColumns = columnsOfDefinition(
		wantedColumn{Name: "Driver", Type: "string", JSONPath: ".driver"},
		wantedColumn{Name: "DeletionPolicy", Type: "string", JSONPath: ".deletionPolicy"},
	)
)

// ofTyped converts columns of custom resources to columns for Go types.
func ofTyped(columns []Column) []Column {
	for i := 1; i < len(columns); i++ { // the first is the name
		cell := columns[i].Cell
		columns[i].Cell = func(obj store.Object, now time.Time) any {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
			if err != nil {
				return nil
			}
			return cell(&unstructured.Unstructured{Object: content}, now)
		}
	}
	return columns
}
