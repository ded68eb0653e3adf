package apiserver

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// metricsVersion is the API of metrics-server. It is served only because of its error message.
// Without the API, kubectl top prints that it is not available, but not the reason.
var metricsVersion = schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}

var metricsResources = []metav1.APIResource{
	{Name: "nodes", Kind: "NodeMetrics", Verbs: []string{"get", "list"}},
	{Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: []string{"get", "list"}},
}

var errUnmeasured = plainError(http.StatusNotImplemented, "NotImplemented",
	"csisim measures no processor time and memory of pods and nodes: most containers run no program, and ps shows those that do")

// isOfMetrics reports whether a request reads metrics.
func (i requestInfo) isOfMetrics() bool {
	return i.apiGroup == metricsVersion.Group && i.apiVersion == metricsVersion.Version && (i.resource == "nodes" || i.resource == "pods")
}
