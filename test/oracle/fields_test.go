package oracle

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/store"
)

// fieldLabels are labels that some kind supports, and labels that no kind supports.
var fieldLabels = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "name", "type", "reason", "source", "reportingComponent", "reportingController",
	"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork", "spec.host", "spec.unschedulable",
	"spec.clusterIP", "spec.type", "spec.volumeName", "spec.storageClassName", "spec.replicas", "spec.attacher",
	"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName", "status.replicas", "status.successful", "status.capacity",
	"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
	"involvedObject.resourceVersion", "involvedObject.fieldPath", "regarding.kind",
}

// Field selectors: the labels that each kind offers, and their values.
func TestFieldSelectors(t *testing.T) {
	s := each(t, func(s *search, g generator, obj store.Object) {
		if g.IntN(40) > 0 {
			return // labels are few
		}
		cluster := newStore()
		api, kind := servedAs(t, obj)
		there := g.existing(cluster, api, obj)
		if there == nil {
			return
		}
		server := apiserver.New(cluster, apiserver.Options{})
		for _, label := range fieldLabels {
			for _, value := range []string{valueOf(t, there, label), "another"} {
				s.writes++
				theirs, ours := selects(t, there, label, value), asks(t, server, api, there, label, value)
				s.add(compare("field of "+kind, []string{label + ": " + theirs}, []string{label + ": " + ours}))
			}
		}
	})
	require.Positive(t, s.writes)
	s.report(t)
}

// valuesOf returns the values that Kubernetes reads from an object for selectors.
func valuesOf(t *testing.T, obj store.Object) fields.Set {
	t.Helper()
	internal, err := internalOf(obj)
	require.NoError(t, err)
	if values := servedOf(obj).fields; values != nil {
		_, set, err := values(internal)
		require.NoError(t, err)
		return set
	}
	accessor := internal.(metav1.ObjectMetaAccessor).GetObjectMeta()
	return generic.ObjectMetaFieldsSet(&metav1.ObjectMeta{Name: accessor.GetName(), Namespace: accessor.GetNamespace()}, servedOf(obj).strategy.NamespaceScoped())
}

func valueOf(t *testing.T, obj store.Object, label string) string {
	t.Helper()
	return valuesOf(t, obj)[label]
}

// selects returns whether Kubernetes selects the object, or why it rejects the label.
func selects(t *testing.T, obj store.Object, label, value string) string {
	t.Helper()
	gvk := obj.GetObjectKind().GroupVersionKind()
	known, value, err := legacyscheme.Scheme.ConvertFieldLabel(gvk, label, value)
	switch {
	case err != nil:
		return err.Error()
	case valuesOf(t, obj)[known] == value:
		return "selected"
	}
	return "not selected"
}

func asks(t *testing.T, server *apiserver.Server, a apiKind, obj store.Object, label, value string) string {
	t.Helper()
	path := "/api/v1/"
	if gv := a.groupVersion(); gv.Group != "" {
		path = "/apis/" + gv.String() + "/"
	}
	query := url.Values{"fieldSelector": {label + "=" + fields.EscapeValue(value)}}
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, httptest.NewRequest("GET", path+a.GVR.Resource+"?"+query.Encode(), nil))
	var list struct {
		Message string
		Items   []metav1.PartialObjectMetadata
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &list))
	if list.Message != "" {
		return list.Message
	}
	for _, item := range list.Items {
		if item.Name == obj.GetName() {
			return "selected"
		}
	}
	return "not selected"
}
