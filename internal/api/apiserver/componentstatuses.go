package apiserver

import (
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const componentStatuses = "componentstatuses"

// componentNames are the programs of the control plane, in the order of the real server. All are
// healthy. [pkg/registry/core/componentstatus/rest.go]
var componentNames = []string{"controller-manager", "scheduler", "etcd-0"}

func (i requestInfo) isOfComponents() bool {
	return i.apiGroup == "" && i.apiVersion == "v1" && i.resource == componentStatuses && i.namespace == "" && i.subresource == ""
}

func componentStatus(name string) corev1.ComponentStatus {
	return corev1.ComponentStatus{
		TypeMeta:   metav1.TypeMeta{Kind: "ComponentStatus", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Conditions: []corev1.ComponentCondition{{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}},
	}
}

func (q *request) serveComponents() error {
	if q.Method != http.MethodGet {
		return errMethodNotAllowed
	}
	media, err := negotiate(q.Header.Get("Accept"), offered, true)
	if err != nil {
		return err
	}
	q.answer.media = media
	q.answer.warn("v1 ComponentStatus is deprecated in v1.19+")
	switch {
	case q.isSet("watch"):
		return apierrors.NewMethodNotSupported(corev1.Resource(componentStatuses), "watch")
	case q.info.name != "" && !slices.Contains(componentNames, q.info.name):
		return apierrors.NewNotFound(corev1.Resource("componentstatus"), q.info.name)
	}
	list := &corev1.ComponentStatusList{TypeMeta: metav1.TypeMeta{Kind: "ComponentStatusList", APIVersion: "v1"}}
	for _, name := range componentNames {
		if q.info.name == "" || q.info.name == name {
			list.Items = append(list.Items, componentStatus(name))
		}
	}
	switch {
	case q.answer.media.as == "Table":
		return q.answer.encoded(http.StatusOK, q.tableOfComponents(list.Items))
	case q.info.name != "":
		return q.answer.encoded(http.StatusOK, &list.Items[0])
	}
	for i := range list.Items {
		list.Items[i].TypeMeta = metav1.TypeMeta{}
	}
	return q.answer.encoded(http.StatusOK, list)
}

// tableOfComponents returns the table that kubectl get componentstatuses prints.
func (q *request) tableOfComponents(items []corev1.ComponentStatus) *metav1.Table {
	version := metav1.GroupName + "/" + q.answer.media.params["v"]
	table := &metav1.Table{TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: version}}
	for _, name := range []string{"Name", "Status", "Message", "Error"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	table.ColumnDefinitions[0].Format = "name"
	for i := range items {
		row := metav1.TableRow{Cells: []any{items[i].Name, "Healthy", "ok", ""}}
		row.Object.Object = onePartial(&items[i], version)
		table.Rows = append(table.Rows, row)
	}
	return table
}
