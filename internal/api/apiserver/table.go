package apiserver

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func (k *servedKind) columns() []kind.Column {
	if k.custom != nil {
		return k.custom.shown
	}
	return kind.Of(k.res).Columns
}

// tableOf returns objects in the form that kubectl prints.
func (q *request) tableOf(columns []kind.Column, objects []store.Object, listMeta metav1.ListMeta) (*metav1.Table, error) {
	table := &metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.GroupName + "/" + q.answer.media.params["v"]},
		ListMeta: listMeta, Rows: []metav1.TableRow{},
	}
	for _, c := range columns {
		table.ColumnDefinitions = append(table.ColumnDefinitions, c.TableColumnDefinition)
	}
	now := q.now()
	for _, obj := range objects {
		row, err := q.row(obj, columns, now)
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// now returns the time of the cluster. Its clock moves while a request is answered.
func (q *request) now() (now time.Time) {
	q.server.options.Exclusive(func() { now = q.server.options.Now() })
	return now
}

func (q *request) row(obj store.Object, columns []kind.Column, now time.Time) (metav1.TableRow, error) {
	var row metav1.TableRow
	for _, c := range columns {
		row.Cells = append(row.Cells, c.Cell(obj, now))
	}
	switch policy := metav1.IncludeObjectPolicy(q.query.Get("includeObject")); policy {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		row.Object.Object = q.kind.presented(obj)
	case "", metav1.IncludeMetadata:
		row.Object.Object = onePartial(obj, metav1.GroupName+"/"+q.answer.media.params["v"])
	default:
		wrong := field.Invalid(field.NewPath("includeObject"), string(policy), "must be 'Metadata', 'Object', 'None', or empty")
		return row, badRequest("Unable to convert to Table as requested: %v", wrong)
	}
	return row, nil
}
