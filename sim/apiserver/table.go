package apiserver

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/sim/store"
)

func (k *kind) columns() []column {
	if columns, ok := columnsOf[k.res.String()]; ok {
		return columns
	}
	return []column{nameColumn, ageColumn}
}

// tableOf is an object, or a list, as kubectl prints it.
func (q *request) tableOf(obj runtime.Object) (runtime.Object, error) {
	if status, ok := obj.(*metav1.Status); ok {
		return status, nil
	}
	table := &metav1.Table{TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.GroupName + "/" + q.answer.media.params["v"]}}
	columns := q.kind.columns()
	for _, c := range columns {
		table.ColumnDefinitions = append(table.ColumnDefinitions, c.TableColumnDefinition)
	}
	table.Rows = []metav1.TableRow{}
	add := func(item runtime.Object) error {
		row, err := q.row(item.(store.Object), columns)
		table.Rows = append(table.Rows, row)
		return err
	}
	if !meta.IsListType(obj) {
		table.ResourceVersion = obj.(store.Object).GetResourceVersion()
		return table, add(obj)
	}
	if from, ok := obj.(metav1.ListInterface); ok {
		table.ResourceVersion, table.Continue, table.RemainingItemCount = from.GetResourceVersion(), from.GetContinue(), from.GetRemainingItemCount()
	}
	return table, meta.EachListItem(obj, add)
}

func (q *request) row(obj store.Object, columns []column) (metav1.TableRow, error) {
	var row metav1.TableRow
	for _, c := range columns {
		row.Cells = append(row.Cells, c.cell(obj, q.server.options.Now()))
	}
	switch metav1.IncludeObjectPolicy(q.query.Get("includeObject")) {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		whole := obj.DeepCopyObject()
		whole.GetObjectKind().SetGroupVersionKind(q.kind.gvk)
		row.Object.Object = whole
	case "", metav1.IncludeMetadata:
		row.Object.Object = onePartial(obj, metav1.GroupName+"/"+q.answer.media.params["v"])
	default:
		return row, badRequest("unrecognized includeObject value: %q", strings.TrimSpace(q.query.Get("includeObject")))
	}
	return row, nil
}
