package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

var tables = printers.NewTableGenerator().With(internalversion.AddHandlers)

// plainKinds have only the default columns in Kubernetes.
var plainKinds = []string{"ClusterRole", "CSIStorageCapacity", "LimitRange", "Role"}

// table returns the columns and cells that Kubernetes shows for an object.
func table(obj store.Object) ([]string, error) {
	internal, err := internalOf(obj)
	if err != nil {
		return nil, err
	}
	var t *metav1.Table
	if slices.Contains(plainKinds, obj.GetObjectKind().GroupVersionKind().Kind) {
		t, err = rest.NewDefaultTableConvertor(schema.GroupResource{}).ConvertToTable(context.Background(), internal, nil)
	} else {
		t, err = tables.GenerateTable(internal, printers.GenerateOptions{Wide: true})
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for i, c := range t.ColumnDefinitions {
		all = append(all, cell(c, t.Rows[0].Cells[i]))
	}
	return all, nil
}

// shown returns the cells that csisim shows.
func shown(api apiKind, obj store.Object, now time.Time) (all []string) {
	accepted := api.accept(obj)
	for _, c := range kind.Of(api.Resource).Columns {
		all = append(all, cell(c.TableColumnDefinition, c.Cell(accepted, now)))
	}
	return all
}

func cell(c metav1.TableColumnDefinition, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte(err.Error())
	}
	return fmt.Sprintf("%s: %s %s %d: %s", c.Name, c.Type, c.Format, c.Priority, text)
}
