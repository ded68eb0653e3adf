package kind

import (
	"bytes"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/csisim/csisim/internal/world/store"
)

// ageOfAll is the column of a version without columns.
var ageOfAll = apiextensionsv1.CustomResourceColumnDefinition{
	Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp",
	Description: "CreationTimestamp is a timestamp representing the server time when this object was created.",
}

// ColumnsOfVersion returns the columns of a definition, up to the first that cannot be parsed.
func ColumnsOfVersion(v *apiextensionsv1.CustomResourceDefinitionVersion) []Column {
	wanted := v.AdditionalPrinterColumns
	if len(wanted) == 0 {
		wanted = []apiextensionsv1.CustomResourceColumnDefinition{ageOfAll}
	}
	columns := []Column{nameColumn}
	for _, w := range wanted {
		path := jsonpath.New(w.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + w.JSONPath + "}"); err != nil {
			break
		}
		about := w.Description
		if about == "" {
			about = "Custom resource definition column (in JSONPath format): " + w.JSONPath
		}
		columns = append(columns, Column{
			metav1.TableColumnDefinition{Name: w.Name, Type: w.Type, Format: w.Format, Description: about, Priority: w.Priority},
			func(obj store.Object, now time.Time) any { return cellOf(obj, path, w.Type, now) },
		})
	}
	return columns
}

// cellOf returns the value at a path in the form of its column's type, nil if there is none.
func cellOf(obj store.Object, path *jsonpath.JSONPath, kind string, now time.Time) any {
	found, err := path.FindResults(typed[*unstructured.Unstructured](obj).Object)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if kind != "string" {
		return typedCell(value, kind, now)
	}
	var text bytes.Buffer
	if err := path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return nil
	}
	return text.String()
}

func typedCell(value any, kind string, now time.Time) any {
	switch v := value.(type) {
	case int64:
		switch kind {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch kind {
		case "integer":
			return int64(v)
		case "number":
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind == "date" {
			return dateCell(v, now)
		}
	}
	return nil
}

func dateCell(text string, now time.Time) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "<invalid>"
	}
	return age(metav1.NewTime(at), now)
}
